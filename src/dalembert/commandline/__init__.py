"""Parts of the commands of `dalembert`: typed vectors, identities, tables."""

from dalembert.errors import DalembertError


class VectorError(DalembertError, ValueError):
    """A typed vector does not fit the mechanism; `option` says which."""

    def __init__(self, message: str, option: str = ""):
        super().__init__(message)
        self.option = option
