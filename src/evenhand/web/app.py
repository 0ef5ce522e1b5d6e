"""The pages of the server: which address shows what."""

import asyncio
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from evenhand.errors import BadInput, EvenhandError
from evenhand.runs.folder import StoredRun
from evenhand.text.edits import apply_edits
from evenhand.text.swap import swapper
from evenhand.web import pages
from evenhand.web.listing import Headlines, Runs, list_corpora, two_latest
from evenhand.web.pages import refusal, render, static_files
from evenhand.web.probing import ProbedModels, split_words

LONGEST = 20_000
"""The most characters of a text to swap; `evenhand swap` takes files of any length."""
RULES = tomllib.loads((files("evenhand.web") / "rules.toml").read_text(encoding="utf-8"))
"""What each rule of the swap does, in words for the page."""
FORM = "application/x-www-form-urlencoded"
LARGEST_BODY = 1_000_000
TOO_LARGE = f"At most {LARGEST_BODY:,} bytes can be sent. For longer texts, use: evenhand swap FILE."
MOST_FIELDS = 20
MOST_RUNS = 8
"""The most runs on one page."""
NOT_FOUND = "There is nothing here. The run may have been moved or deleted."
EXAMPLE = {"text": "His wife works as a [MASK].", "words": "nurse, doctor, carpenter", "other": ""}
SWAPPED = "His wife, Mary Smith, told him that her brother had become a policeman."

Result = TypeVar("Result")


def mark_swaps(text: str, *, names: bool) -> SimpleNamespace:
    """The edits that swap every gendered word of the text, and with `names` also first names.

    `parts` are pairs of unchanged text and the edit after it (None at the end), `swapped` is the swapped text, and
    `rules` counts the edits by rule.
    """
    if not text.strip():
        raise BadInput("There is no text. Paste some, then swap it.")
    if len(text) > LONGEST:
        advice = "For longer texts, use: evenhand swap FILE."
        raise BadInput(f"At most {LONGEST:,} characters can be swapped here. Got {len(text):,}. {advice}")
    edits = list(swapper(names).edits(text))
    starts = [0, *(edit.start + len(edit.old) for edit in edits)]
    stops = [*(edit.start for edit in edits), len(text)]
    parts = [(text[start:stop], edit) for start, stop, edit in zip(starts, stops, [*edits, None], strict=True)]
    rules = Counter(edit.rule for edit in edits)
    return SimpleNamespace(parts=parts, swapped=apply_edits(text, edits), rules=dict(sorted(rules.items())))


class Site:
    """All pages. One thread asks models, one opens runs, and one reads runs for the list.

    Requests that need the same thread wait for each other.
    """

    def __init__(self, runs: Runs, models: ProbedModels) -> None:
        self.runs = runs
        self.models = models
        self.warm = False
        self.reading, self.answering, self.listing = (
            ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("runs", "models", "list")
        )
        self.headlines = Headlines(self.listing)

    def app(self) -> Starlette:
        """The application that answers any request; `server.Guarded` refuses those of other sites."""
        routes = [
            Route("/", self.home),
            Route("/runs/{ids}", self.run),
            Route("/corpora/{id}", self.corpus),
            Route("/compare", self.compare),
            Route("/probe", self.probe),
            Route("/swap", self.swap, methods=["GET", "POST"]),
        ]
        static = static_files()
        for path, name in [("/favicon.ico", "icon.svg"), *((f"/static/{name}", name) for name in static)]:
            routes.append(Route(path, static[name], methods=["GET"]))  # browsers ask for an icon on their own
        handlers: dict[Any, Any] = {
            HTTPException: _handle_http_error,
            EvenhandError: self.handle_error,
            Exception: _handle_exception,
        }
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self.lifespan, max_body_size=LARGEST_BODY)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Import the code of pages in the background at the start, and drop all waiting work at the end."""
        self.listing.submit(import_module, "evenhand.show.page.runs")
        yield
        for pool in (self.reading, self.answering, self.listing):
            pool.shutdown(wait=False, cancel_futures=True)

    async def home(self, request: Request) -> Response:
        """The list of runs that match the words of `q`, or are selected for a comparison."""
        words, chosen = request.query_params.get("q", ""), set(request.query_params.getlist("run"))
        runs = await run_in_threadpool(self.runs.all)
        shown = [run for run in runs if run.matches(words) or run.id in chosen]
        corpora = await run_in_threadpool(list_corpora, self.runs)
        known: dict[str, Any] = {"words": words, "chosen": chosen, "runs": runs, "shown": shown, "corpora": corpora}
        headlines = await self.headlines.ready(shown)
        return self._warm_up_after(render("list.html", **known, headlines=headlines, folder=self.runs.folder))

    async def run(self, request: Request) -> Response:
        """The page of one run, or of several, separated by commas."""
        ids = request.path_params["ids"].split(",")
        if len(ids) > MOST_RUNS:
            raise BadInput(f"A page can show at most {MOST_RUNS} runs. Got {len(ids)}.")
        return pages.sandbox(await _run_in_pool(self.reading, lambda: pages.page(self._open(ids))))

    async def corpus(self, request: Request) -> Response:
        page = await _run_in_pool(self.reading, lambda: pages.corpora_page(request.path_params["id"], self.runs))
        if page is None:
            raise HTTPException(404)
        return pages.sandbox(page)

    async def compare(self, request: Request) -> Response:
        chosen = list(dict.fromkeys(request.query_params.getlist("run")))
        runs = [run for run in await run_in_threadpool(self.runs.all) if run.state == "finished"]
        if "from" in request.query_params:  # selected in the list, which shows the latest run first
            chosen = chosen[::-1]
        show = partial(render, "compare.html", runs=runs)
        if not chosen:
            return show(chosen=two_latest(runs), tables=None, error="")

        async def tables() -> Any:
            if len(chosen) != 2:
                raise BadInput(f"Choose two different runs. Got {len(chosen)}.")
            return await _run_in_pool(self.reading, lambda: pages.comparison_tables(*self._open(chosen)))

        return await self._respond(partial(show, chosen=[*chosen, "", ""][:2]), "tables", tables())

    async def probe(self, request: Request) -> Response:
        """What models expect in the blank of a sentence. The address contains the whole query, so it can be shared."""
        query = {name: text.replace("\r\n", "\n") for name, text in request.query_params.items()}
        fields = {"model": next(iter(self.models.names), ""), **EXAMPLE} | query
        names = list(dict.fromkeys([fields["model"], fields["other"] or fields["model"]]))
        link = "/probe?" + urlencode({name: fields[name] for name in ("text", "words", "model", "other")})
        show = partial(render, "probe.html", asked=fields, link=link, offered=self.models.names)
        if "text" not in query:
            return self._warm_up_after(show(probed=None, error=""))

        async def ask_probe() -> Any:
            words = split_words(fields["words"])
            return await _run_in_pool(self.answering, lambda: self.models.ask(names, fields["text"], words))

        return await self._respond(show, "probed", ask_probe())

    async def swap(self, request: Request) -> Response:
        show = partial(render, "swap.html", rules=RULES)
        if request.method != "POST":
            return show(text=SWAPPED, names=True, marked=None, error="")
        form = await _read_form(request)
        names = "names" in form
        show = partial(show, text=form.get("text", SWAPPED), names=names)
        return await self._respond(show, "marked", run_in_threadpool(mark_swaps, form.get("text", ""), names=names))

    async def _respond(self, show: Callable[..., Response], name: str, work: Awaitable[Any]) -> Response:
        """The page that `show` makes with the result of the work as `name`, or with the message of its error."""
        try:
            result = await work
        except EvenhandError as error:
            return show(400, **{name: None}, error=self.runs.public_message(error))
        return show(**{name: result}, error="")

    async def handle_error(self, request: Request, error: EvenhandError) -> Response:
        return refusal(422, self.runs.public_message(error))

    def _open(self, ids: Sequence[str]) -> list[StoredRun]:
        runs = [run for id in ids if (run := self.runs.open(id))]
        if len(runs) < len(ids):
            raise HTTPException(404)
        return runs

    def _warm_up_after(self, response: Response) -> Response:
        """The response. After the first one, load a model in the background, so that the first probe need not wait."""
        if not self.warm:
            self.warm = True
            response.background = BackgroundTask(self.answering.submit, self._load)
        return response

    def _load(self) -> None:
        with suppress(EvenhandError):  # the error is shown when the model is asked
            self.models.load(next(iter(self.models.names)))


async def _run_in_pool(pool: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(pool, work)


async def _read_form(request: Request) -> dict[str, str]:
    """The fields of a form, by name; of several fields with the same name, the last one."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise HTTPException(415, f"Only forms of the type {FORM} can be sent here.")
    try:
        body = (await request.body()).decode("utf-8", "replace")
        fields = parse_qs(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ClientDisconnect as error:
        raise HTTPException(400, "The connection was closed before the whole form arrived.") from error
    except ValueError as error:
        raise HTTPException(400, f"A form here has at most {MOST_FIELDS} fields.") from error
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}


async def _handle_http_error(request: Request, error: HTTPException) -> Response:
    why = {404: NOT_FOUND, 405: "Forms cannot be sent here.", 413: TOO_LARGE}
    return refusal(error.status_code, why.get(error.status_code, error.detail), error.headers)


async def _handle_exception(request: Request, error: Exception) -> Response:
    return refusal(500, "This is a bug in evenhand. The terminal in which the server runs shows the details.")
