"""Lists of names that read like a text."""


def words(text: str) -> list[str]:
    """The words of `text`, which may go over several lines."""
    return text.split()
