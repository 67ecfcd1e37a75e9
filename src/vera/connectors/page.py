"""Web pages by their addresses: fetched as the tool `fetch` fetches, each kept with its receipt."""

import asyncio
from pathlib import PurePosixPath

from vera.connectors.basket import Basket
from vera.connectors.reach import Reach, Unreachable
from vera.connectors.site import page_name
from vera.connectors.values import ConnectorError, Source
from vera.sandbox.fetch.fetcher import Fetcher, FetchLimits
from vera.sandbox.fetch.receipt import Fetched, FetchError
from vera.sanitize import one_line


class Pages:
    """`page:URL`: the page or document at that address; several are separated by blanks.

    Whoever names an address wants what is there: one that cannot be read is an error, not left out.
    """

    version = "1"

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the pages into the basket, in the order of their addresses. Raises ConnectorError."""
        source.only()
        urls = list(dict.fromkeys(source.address.split()))
        if not urls:
            raise ConnectorError(f"The connector {source.name} has no address.")
        try:
            fetcher = reach.fetcher(lambda url: "", FetchLimits().body)
        except Unreachable as error:
            raise ConnectorError(f"{one_line(urls[0], 200)} is not fetched: {error}.") from None
        try:
            async with asyncio.timeout(basket.seconds_left):
                answers = await asyncio.gather(*(_answer(fetcher, url) for url in urls))
        except TimeoutError:
            seconds = basket.limits.seconds
            raise ConnectorError(
                f"The pages were not there after {seconds:g} s, the limit of connectors.seconds."
            ) from None
        for url, answer in zip(urls, answers, strict=True):
            if isinstance(answer, str):
                raise ConnectorError(answer)
            _keep(url, answer, basket)
        return ""


async def _answer(fetcher: Fetcher, url: str) -> Fetched | str:
    """What an address gave, or why nothing came, in a sentence."""
    try:
        answer = await fetcher.fetch(url)
    except FetchError as error:
        return one_line(str(error), 500)
    if 200 <= answer.status < 300:
        return answer
    return f"{one_line(url, 200)} is not read: the server answered HTTP {answer.status}."


def _keep(url: str, answer: Fetched, basket: Basket) -> None:
    """Raises ConnectorError for a page that the basket does not take."""
    receipt = answer.receipt
    if any(each.origin == receipt.url and each.sha256 == receipt.sha256 for each in basket.documents):
        return  # two addresses that lead to one page
    name = _free(page_name(receipt.url, receipt.media_type), basket)
    if not basket.add(name, answer.body, receipt.url, receipt):
        raise ConnectorError(f"{one_line(url, 200)} is not read: {basket.left_out[-1][1]}.")


def _free(name: str, basket: Basket) -> str:
    """The name, with a number where another page has it."""
    taken = {each.name.casefold() for each in basket.documents}
    path, free, number = PurePosixPath(name), name, 1
    while f"{basket.prefix}/{free}".casefold() in taken:
        number += 1
        free = str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
    return free
