"""Files and nothing else: guarded paths, durable writes, locks, front matter, the template."""
