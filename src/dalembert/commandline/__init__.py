"""What the commands of `dalembert` are made of: vectors as typed, identities, tables."""

from dalembert.errors import DalembertError


class VectorError(DalembertError, ValueError):
    """A typed vector does not fit the mechanism; `option` says which."""

    def __init__(self, message: str, option: str = ""):
        super().__init__(message)
        self.option = option
