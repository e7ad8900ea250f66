"""Word lists of the text analysis: Snowball's stop words and irregular English forms."""

_EN_STOP = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she
her hers herself it its itself they them their theirs themselves what which who whom this that
these those am is are was were be been being have has had having do does did doing would should
could ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd
she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't
haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't
mustn't let's that's who's what's here's there's when's where's why's how's a an the and but if
or because as until while of at by for with about against between into through during before
after above below to from up down in out on off over under again further then once here there
when where why how all any both each few more most other some such no nor not only own same so
than too very can will just should've could've would've i'ma y'all ain't gonna s t don re ve ll
m d
"""

_DE_STOP = """
aber alle allem allen aller alles als also am an ander andere auch auf aus bei bin bis bist da
damit dann das dass dein deine dem den der des dich die dies diese diesem diesen dieser dieses
dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen hab habe
haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre im in ist ja jede jeder jedes
jetzt kann kein keine können man mein meine mich mir mit nach nicht nichts noch nun nur ob oder
ohne sehr sein seine sich sie sind so solche soll sondern um und uns unser unter viel vom von
vor war waren warst was weg weil weiter wenn wer werde werden wie wieder will wir wird wirst wo
wollen während würde zu zum zur zwar zwischen über
"""

_FR_STOP = """
au aux avec ce ces dans de des du elle en et eux il ils je la le les leur leurs lui ma mais me
même mes moi mon ne nos notre nous on ou par pas pour qu que qui sa se ses son sur ta te tes toi
ton tu un une vos votre vous c d j l à m n s t y été étée étées étés étant suis es est sommes
êtes sont sera serai était étaient étais ai as avons avez ont avait avais avaient eu cette cet
où quand comment pourquoi quel quelle quels quelles c'est j'ai qu'il qu'elle n'est d'un d'une
"""

_ES_STOP = """
de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o
este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos
durante todos uno les ni contra otros ese eso ante ellos e esto mí antes algunos qué unos yo
otro otras otra él tanto esa estos mucho quienes nada muchos cual poco ella estar estas algunas
algo nosotros mi mis tú te ti tu tus ellas os es soy eres somos son era eran fue fueron estoy
está están estaba he has ha hemos han había cuándo dónde cómo quién cuál
"""

_IT_STOP = """
ad al allo ai agli alla alle con col da dal dallo dai dalla dalle di del dello dei degli della
delle in nel nello nei negli nella nelle su sul sullo sui sulla sulle per tra contro io tu lui
lei noi voi loro mio mia miei mie tuo tua suo sua nostro vostro mi ti ci vi lo la li le gli ne
il un uno una ma ed se perché anche come dov dove che chi cui non più quale quanto quanti quanta
quante quello quelli quella quelle questo questi questa queste si tutto tutti a c e i l o ho hai
ha abbiamo avete hanno è sono sei siamo era erano fu quando cosa
"""

_PT_STOP = """
de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu
sua ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus
quem nas me esse eles você essa num nem suas meu às minha numa pelos elas qual nós lhe este dele
tu te vocês meus minhas está estou é são foi foram era eram ser tem tinha onde quando
"""

_NL_STOP = """
de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem
dan zou of wat mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb
hoe heeft hebben deze u want nog zal me zij nu ge geen omdat iets worden toch al waren veel meer
doen toen moet ben zonder kan hun dus alles onder ja eens hier wie werd altijd wordt kunnen ons
zelf tegen na waar wanneer
"""

_SV_STOP = """
och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke
mig du henne då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut
när efter upp vi dem vara vad över än dig kan sina här ha mot alla under någon eller allt mycket
sedan ju denna själv detta åt utan varit hur ingen mitt ni bli blev oss din dessa några deras
mina vilken er
"""

_RU_STOP = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне
было вот от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас
опять уж вам ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем
была сам чтоб без будто чего раз тоже себе под будет ж кто этот того потому этого какой ним
здесь этом мой тем чтобы нее были куда зачем всех можно при об хоть над больше тот через эти нас
про них какая эту моя свою этой перед иногда чуть том такой им более всю между
"""

_DA_STOP = """
og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min
havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil
blev kunne ind når være dog noget ville jo deres efter ned skulle denne end dette mit også under
have dig anden hende mine alt meget sit sine vor mod hvis din nogle hos blive mange bliver hendes
været thi jer sådan
"""

_NO_STOP = """
og i jeg det at en et den til er som på de med han av ikke der så var meg seg men har om vi min
mitt ha hadde hun nå over da ved fra du ut sin dem oss opp man kan hans hvor eller hva skal selv
sjøl her alle vil bli ble blitt kunne inn når være kom noen noe ville dere deres kun ja etter ned
skulle denne for deg si sine sitt mot å meget hvorfor dette disse uten hvordan ingen din ditt
blir samme hvilken hvilke sånn inni mellom vår hver hvem både bare enn fordi før mange også slik
være begge siden
"""

_FI_STOP = """
olla olen on olet olemme ovat oli olivat ollut ei en et emme eivät minä minun minut minua minulla
sinä sinun sinut hän hänen hänet me meidän te teidän he heidän tämä tämän tuo se sen sitä siinä
siitä nämä ne niiden kuka kenen mikä mitä missä mihin joka jonka jotka että ja jos koska kuin
mutta niin sekä sillä tai vaan vai vaikka kun nyt itse myös eilen tänään hyvin vielä jo
"""

_HU_STOP = """
a az egy és hogy nem is de ez azt ha meg csak mint volt vagy már még mi ki mit én te ő ti ők van
lesz minden el fel le be kell nagyon után azért ezt itt ott akkor mert pedig így úgy sem ami aki
ahol amikor hol mikor hogyan miért volt voltak vagyok vagyunk tegnap ma holnap ezek azok nekem
neki velem vele
"""

_RO_STOP = """
și în la de cu pe un o nu ce că să se din pentru care este sunt am ai are a au fost era eram mai
dar sau ca eu tu el ea noi voi ei ele meu mea mei mele tău ta lui lor acest această aceasta acel
unde când cum cine dacă foarte după până fără peste prin între doar tot toate toți ieri azi mâine
mi ți îl îi ne vă le
"""

_TR_STOP = """
ve bir bu da de için ile çok ama ne o ben sen biz siz onlar gibi daha en kadar sonra önce var yok
mi mı mu mü değil ki şu her hiç dün bugün yarın çünkü nasıl neden niçin nerede nereye kim hangi
bana sana ona bize size bunu şimdi ise veya ya hem artık benim senin onun bizim sizin olan olarak
oldu
"""

_ID_STOP = """
dan yang di ke dari ini itu untuk dengan pada adalah tidak saya aku kamu anda dia kami kita mereka
akan sudah telah bisa dapat ada juga atau karena seperti oleh dalam apa siapa kapan mana bagaimana
mengapa sangat lebih belum bukan lagi saja kemarin besok tetapi tapi jika kalau
"""

_CA_STOP = """
de la el els les i a en un una uns unes que és són era no es per amb del dels al als jo tu ell
ella nosaltres vosaltres ells elles meu meva seu seva aquest aquesta aquests això allò com quan on
qui què si ja més molt també però perquè sense sobre fins va vaig vam hem han he ha ens us li hi
ho ahir avui demà
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": _EN_STOP,
        "de": _DE_STOP,
        "fr": _FR_STOP,
        "es": _ES_STOP,
        "it": _IT_STOP,
        "pt": _PT_STOP,
        "nl": _NL_STOP,
        "sv": _SV_STOP,
        "ru": _RU_STOP,
        "da": _DA_STOP,
        "no": _NO_STOP,
        "fi": _FI_STOP,
        "hu": _HU_STOP,
        "ro": _RO_STOP,
        "tr": _TR_STOP,
        "id": _ID_STOP,
        "ca": _CA_STOP,
    }.items()
}
"""Stop words by language, most of them Snowball's; for English the contractions people type too."""

_LETTER_TABLE = "ß:de ä:de,sv,fi ö:de,sv,fi,hu,tr ü:de,hu,tr å:sv,da,no ø:da,no æ:da,no ñ:es ¿:es"
_LETTER_TABLE += " ç:fr,pt,ca,tr œ:fr ê:fr,pt ô:fr,pt ã:pt õ:pt ő:hu ű:hu ă:ro ș:ro ț:ro î:ro,fr"
_LETTER_TABLE += " ğ:tr ş:tr ı:tr ·:ca"
LETTERS = {
    letter: tuple(codes.split(","))
    for letter, _, codes in (entry.partition(":") for entry in _LETTER_TABLE.split())
}
"""Letters that speak for a language: a word with one counts as one of its stop words does."""

_EN_IRREGULAR = """
be:been,being
become:became begin:began,begun bite:bit,bitten blow:blew,blown break:broke,broken bring:brought
build:built buy:bought catch:caught choose:chose,chosen come:came deal:dealt dig:dug draw:drew,drawn
dream:dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt
fight:fought find:found fly:flew,flown forget:forgot,forgotten forgive:forgave,forgiven
freeze:froze,frozen get:got,gotten give:gave,given go:went,gone grow:grew,grown hang:hung
hear:heard hide:hid,hidden hold:held keep:kept know:knew,known lay:laid lead:led learn:learnt
leave:left lend:lent lose:lost make:made mean:meant meet:met pay:paid ride:rode,ridden
ring:rang,rung rise:rose,risen run:ran say:said see:saw,seen seek:sought sell:sold send:sent
shake:shook,shaken shine:shone shoot:shot show:shown sing:sang,sung sink:sank,sunk sit:sat
sleep:slept slide:slid speak:spoke,spoken spend:spent spin:spun stand:stood steal:stole,stolen
stick:stuck strike:struck swear:swore,sworn sweep:swept swim:swam,swum swing:swung take:took,taken
teach:taught tear:tore,torn tell:told think:thought throw:threw,thrown understand:understood
wake:woke,woken wear:wore,worn weave:wove,woven win:won write:wrote,written
child:children,kid,kids man:men woman:women foot:feet tooth:teeth mouse:mice goose:geese
person:people wife:wives life:lives knife:knives leaf:leaves shelf:shelves half:halves
wolf:wolves loaf:loaves thief:thieves self:selves
good:better,best bad:worse,worst far:further,farther
mom:mum,mother,mommy,mama dad:father,daddy photo:photograph,photos,photographs,pic,pics
picture:pictures tv:television
"""


def _irregular(table: str) -> dict[str, str]:
    pairs = (entry.split(":") for entry in table.split())
    return {form: base for base, forms in pairs for form in forms.split(",")}


IRREGULAR: dict[str, dict[str, str]] = {"en": _irregular(_EN_IRREGULAR)}
"""Forms a stemmer cannot reach, by language: form -> base."""

_TIME = """
yesterday today tonight tomorrow ago last next week weeks weekend month months year years since
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december recently morning day days
"""
TIME_WORDS = frozenset(_TIME.split())
"""Words that tell when something was."""

CJK = (
    # Thai, Lao, Burmese and Khmer have no spaces between words either.
    "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f"
)
"""The ranges of the scripts that are written without spaces, for a character class."""
