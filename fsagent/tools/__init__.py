"""What the model may call: the registry, the file tools, the memory tools."""
