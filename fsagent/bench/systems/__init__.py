"""The systems under test, each answering from one sample's memory."""
