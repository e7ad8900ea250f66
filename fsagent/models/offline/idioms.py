"""Words that tell a fact from an idiom: "I live in Porto" from "I live in hope"."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split("|"))


NO_HOMES = _set(
    "hope|fear|denial|peace|harmony|poverty|luxury|style|sin|squalor|interesting|the|past|present|"
    "exile|darkness|silence|shame|pain|constant|a world|a time|a society|a dream|a bubble|a simulation|"
    "a lie|a movie|my head|their head|pyjamas|pajamas|sweatpants|jeans|their|my|fantasy|constant fear|"
    "the moment|tears|conclusions|bed|love|awe"
)
"""In which nobody has an address."""

PLACES = (
    r"\b(?:town|city|village|suburbs?|countryside|house|flat|apartment|cottage|cabin|farm|boat|houseboat|"
    r"coast|mountains|island|downtown|studio|loft|dorm|neighbou?rhood|district|bungalow|caravan)\b"
)
"""Words for places that are written small."""

NO_NAMES = _set(
    "not|on|in|the|a|an|at|mud|for|later|back|when|if|crazy|old|old-fashioned|stupid|mad|tomorrow|tonight|"
    "today|maybe|again|is|was|hard|long|short|unusual|common|funny|pronounced|spelled|spelt|secret|unknown|"
    "names|names!|anytime|whenever|asap|please|now|sometime|soon|and|or|my|your|his|her|what|something|"
    "anything|hungry|tired|happy|sad|sorry|back|new|fine|good|ok|okay|ready|late|sick|busy|bored|lost|stuck|"
    "done|glad|excited|curious|interested|looking|trying|wondering|whatever|irrelevant|important|nobody|american|british|canadian|australian|mexican|brazilian|"
    "indian|african|asian|european|belgian|austrian|swiss|scottish|irish|argentinian|chilean|colombian|"
    "egyptian|iranian|iraqi|israeli|kenyan|nigerian|pakistani|peruvian|syrian|jewish|muslim|christian|hindu|"
    "buddhist|catholic"
)
"""What stands behind "call me" and "my name is" and is no name."""

TECHNOLOGY = _set(
    "linux|windows|mac|macos|ubuntu|debian|fedora|arch|android|ios|iphone|python|rust|java|javascript|"
    "typescript|go|golang|kotlin|swift|ruby|php|vim|neovim|emacs|vscode|github|gitlab|git|kubernetes|docker|"
    "aws|azure|gcp|postgres|postgresql|mysql|sqlite|redis|react|vue|angular|svelte|django|rails|node|chrome|"
    "firefox|safari|slack|teams|notion|obsidian|gmail|outlook|chatgpt|claude|gemini|netflix|spotify|plan|"
    "chapter|level|stage|step|phase|page|version|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
"""To which one moves without a van."""

IDLE_VALUES = _set(
    "mondays|mornings|work|bullshit|stupidity|nonsense|people|drama|exercise|everything|nothing|anything|"
    "everyone|everybody|life|something|things|stuff|to hear|doing nothing|one|ones|both|neither|either|"
    "mine|responsibility|waiting|surprises|getting up|bills|taxes|idiots|fun|commitment|effort|adulting"
)
"""What people say they love, hate or are allergic to in passing."""

NO_FIELDS = _set("the|a|an|my|their|shifts|pairs|batches|teams|order|progress|silence|short|groups")
"""In which one works without it being a trade."""

NO_SUBJECTS = _set("|hard|for|all|with|a|late|alone|more|at|in|on|every|the")
"""What stands behind "I study" and is no subject."""

PROFESSIONS = _set(
    "accountant|actor|actress|analyst|archaeologist|architect|artist|astronomer|attorney|author|baker|banker|"
    "barber|barista|bartender|biologist|bookkeeper|botanist|builder|butcher|cardiologist|carpenter|cashier|"
    "chef|chemist|cleaner|coach|comedian|composer|conductor|consultant|cook|copywriter|counselor|counsellor|"
    "dancer|dentist|designer|detective|developer|dietitian|director|doctor|driver|economist|editor|electrician|"
    "engineer|entrepreneur|farmer|filmmaker|firefighter|fisherman|florist|freelancer|gardener|geologist|"
    "goldsmith|gp|guide|hairdresser|historian|illustrator|instructor|interpreter|investor|janitor|jeweller|"
    "journalist|judge|lawyer|lecturer|librarian|linguist|locksmith|manager|mathematician|mechanic|midwife|"
    "model|musician|notary|novelist|nurse|nutritionist|optician|painter|paramedic|pastor|pharmacist|"
    "philosopher|photographer|physician|physicist|physiotherapist|pianist|pilot|plumber|poet|policeman|"
    "policewoman|politician|postman|priest|producer|professor|programmer|psychiatrist|psychologist|"
    "radiologist|realtor|receptionist|recruiter|reporter|researcher|sailor|salesman|scientist|sculptor|"
    "secretary|seamstress|singer|sociologist|soldier|statistician|student|surgeon|surveyor|tailor|teacher|"
    "technician|therapist|translator|tutor|veterinarian|vet|violinist|waiter|waitress|welder|writer|zoologist"
)
"""Heads of what somebody is by trade: "I'm a nurse", not "I'm a fan"."""

ORGANISATIONS = (
    "hospital|school|bank|university|college|company|restaurant|caf[eé]|library|museum|factory|lab|"
    "laboratory|clinic|hotel|shop|store|startup|start-up|bakery|agency|firm|office|bookshop|bookstore|"
    "nonprofit|non-profit|charity|ngo|newspaper|magazine|airline|airport|farm|garage|studio|theatre|theater|"
    "pharmacy|supermarket|kindergarten|nursery|shelter|embassy|ministry|government|council|institute"
)
"""Where one works, written small."""

EVENTS = (
    "appointment|meeting|interview|exam|test|flight|train|deadline|check-?up|surgery|operation|concert|party|"
    "wedding|presentation|conference|lesson|dinner|lunch|trip|reservation|booking|dentist|race|marathon|"
    "match|recital|tournament|competition|ceremony|graduation|audition|viewing|rehearsal|workshop|"
    "court date|due date|baby shower|funeral"
)
"""What stands in a calendar."""

CONDITIONS = _set(
    "asthma|diabetes|type 1 diabetes|type 2 diabetes|epilepsy|celiac disease|coeliac disease|celiac|migraines|"
    "adhd|autism|dyslexia|arthritis|high blood pressure|hay fever|a pacemaker|insomnia|tinnitus|eczema|"
    "lactose intolerance|a gluten intolerance|anxiety|depression"
)
"""What one has for long."""

INSTRUMENTS = (
    "violin|viola|cello|piano|guitar|bass|drums|flute|clarinet|oboe|saxophone|trumpet|trombone|harp|"
    "accordion|ukulele|banjo|organ|keyboard|tennis|football|soccer|basketball|volleyball|badminton|golf|"
    "rugby|cricket|hockey|handball|chess|bridge|squash|baseball|table tennis"
)
"""What one plays for years."""

VENTURES = (
    "business|store|shop|studio|company|restaurant|caf[eé]|bakery|agency|practice|gallery|startup|"
    "start-up|blog|podcast|farm|salon|school|charity|foundation|band"
)
"""What one opens and then has."""

POSSESSIONS = (
    "house|flat|apartment|cottage|farm|car|van|motorbike|motorcycle|bike|bicycle|boat|sailboat|sloop|"
    "camper|piano|guitar|violin|horse|shop|store|business|company|telescope"
)
"""What one buys seldom enough to remember."""

PASSING = (
    "call|chat|channel|meeting|queue|zoom|server|game|party|fun|conversation|discussion|thread|dots|"
    "newsletter|trial|account|loop|filter|patch|change|fix|update|coat|discount|coupon|lot|bit|minute"
)
"""What is joined or applied and over the same day."""
