"""What `04_cost.ipynb` shows: each method of :class:`Cost` is one of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import SERVER_CHOICE, SERVER_DISKS
from azbenchlib.advisor.reasons.break_even import Requirement
from azbenchlib.answers.answer import frame
from azbenchlib.answers.bill import bills_document
from azbenchlib.answers.blocks import Block, render
from azbenchlib.answers.html import block
from azbenchlib.azure.prices.book import USD
from azbenchlib.azure.prices.rows import PAYMENTS
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB, format_count, format_mbps, format_size, parse_size, stated_size
from azbenchlib.cost import published_costs
from azbenchlib.cost.payments import Payment
from azbenchlib.cost.priced_setups import Priced, Terms, measured_setups, price
from azbenchlib.model import notation
from azbenchlib.report.part import Part
from azbenchlib.report.sections import bills, frontiers, purchase_options
from azbenchlib.views.view import MOST_ROWS, NotebookView


class Cost(NotebookView):
    """What setups cost, and which purchase option of disks is the cheapest.

    Parameters
    ----------
    datasets : sequence of str
        Folders, or names of datasets in ``datasets/`` or among those shipped; none is allowed.
    vm : str
        VM size of a setup of one's own, billed with them.
    disks : sequence of str
        Its disks, in the notation of ``azbench cost``.
    region : str
        Where all is priced; empty: where each dataset was measured.
    hours : float
        The period of the bills.
    pay : {"payg", "1y", "3y", "spot"}
        How the VM is paid.
    currency : str
        Of the prices, such as EUR, once ``azbench catalog refresh --retail-prices --currency EUR`` has read
        them.
    prices : str
        A price book of one's own; empty: the shipped one, or what was read since.
    as_of : str
        ISO day whose prices count; empty: the newest.
    size, bs : str
        Of the disks and I/Os that the curves compare.
    iops, mbps : float
        That they must give.
    most_disks : int
        Of a stripe in the curves.
    transaction_cap : int
        Transactions of a Standard SSD that are billed in an hour at most; 0: none is known.
    group_by : str
        Which runs whose setup is not stated were made on one: path, folder, host, job or setup.

    Raises
    ------
    InputError
        When a dataset cannot be read, or a parameter is none.
    """

    _headings = True

    def __init__(
        self,
        datasets: str | Sequence[str] = (),
        *,
        vm: str = "",
        disks: Sequence[str] = (),
        region: str = "",
        hours: float = 730,
        pay: str = "payg",
        currency: str = USD,
        prices: str = "",
        as_of: str = "",
        size: str = "1TiB",
        iops: float = 10_000,
        mbps: float = 200,
        bs: str = "4KiB",
        most_disks: int = 16,
        transaction_cap: int = 0,
        group_by: str = "",
    ) -> None:
        if pay not in PAYMENTS:
            raise InputError(f"pay '{pay}' is not one of: {', '.join(PAYMENTS)}")
        if min(iops, mbps, most_disks) <= 0:
            raise InputError("iops, mbps and most_disks must be above 0")
        own = Path(prices) if prices else None
        self._payment = Payment(pay=PAYMENTS[pay], currency=currency.upper())
        self._terms = Terms(
            region=region,
            hours=Decimal(str(hours)),
            pay=self._payment.pay,
            own=own,
            as_of=as_of,
            currency=self._payment.currency,
        )
        super().__init__(datasets, group_by=group_by)
        self._priced = {
            f"d{i}": measured_setups(part.dataset.tables, part.setup_ids, self._terms)
            for i, part in enumerate(self.parts)
        }
        self._own = self._price_own(vm, disks)
        self._iops, self._cap = iops, transaction_cap or None
        self._requirement = Requirement(stated_size(size), mbps * MB, parse_size(bs), most_disks)

    def bills(self) -> Block:
        """Every meter with quantity, unit price, period, amount, source and day."""
        own = self._bills([*self._own.items()], "own") if self._own else Block("")
        return own + self._blocks(self._bill_of, "names no VM or disk of Azure: there is nothing to price")

    def delivered(self) -> Block:
        """The price of each thousand IOPS and of each 100 MB/s that was measured."""
        return self._blocks(self._delivered_of, "has no setup with both a price and a measured rate")

    def published(self) -> Block:
        """Prices that the publications print, and their sums recomputed."""
        return self._blocks(self._published_of, "prints no prices")

    def transactions(self) -> Block:
        """Premium SSD against Standard disks, whose I/Os are billed."""
        size, bs = self._requirement.size_bytes, self._requirement.bs_bytes
        one = purchase_options.transactions(self._market, size, bs, self._cap)
        capped = f"; at most {format_count(self._cap)} an hour are billed" if self._cap else ""
        what = f"One disk of {format_size(size)} in {self._market.region}, I/Os of {format_size(bs)}{capped}."
        how = [
            purchase_options.ON_AVERAGE,
            *([] if self._cap else [purchase_options.UNCAPPED]),
            purchase_options.SPEED,
        ]
        figure = purchase_options.figure(one, purchase_options.overtakes(one), what, how)
        return (
            figure
            + purchase_options.break_even_points(one)
            + purchase_options.by_size(self._market, bs, self._cap)
        )

    def standing(self) -> Block:
        """Premium SSD, Premium SSD v2, Ultra Disk and stripes, by the IOPS that must be there."""
        requirement = self._requirement
        one = purchase_options.standing(self._market, requirement)
        what = (
            f"{format_size(requirement.size_bytes)} with {format_mbps(requirement.bytes_per_s)} MB/s, "
            f"I/Os of {format_size(requirement.bs_bytes)}, {self._market.region}; "
            f"stripes of up to {requirement.most_disks}. "
            "Disks alone; the VM counts in the frontier below."
        )
        figure = purchase_options.figure(
            one,
            purchase_options.cheapest(one),
            what,
            [purchase_options.LOWEST, purchase_options.STEPS, purchase_options.FREE],
            rings=False,
        )
        return figure + purchase_options.break_even_points(one)

    def bursting(self) -> Block:
        """On-demand bursting against IOPS that are there all the time."""
        size = self._requirement.size_bytes
        one = purchase_options.bursting(self._market, size, self._iops)
        if not one.costs:
            text = f"No on-demand bursting for {format_size(size)}: it is for Premium SSD above 512 GiB"
            return render("note", text=text, options=[])
        what = f"{format_size(size)} in {self._market.region}, in one disk or several striped."
        return purchase_options.figure(
            one, purchase_options.overtakes(one), what, [purchase_options.ALWAYS]
        ) + purchase_options.break_even_points(one)

    def frontier(self) -> Block:
        """The cheapest VM with each kind of disk, by the IOPS that it must give."""
        requirement = self._requirement
        demand = Demand(
            size_bytes=requirement.size_bytes,
            iops=self._iops,
            bytes_per_s=max(requirement.bytes_per_s, self._iops * requirement.bs_bytes),
            bs_bytes=requirement.bs_bytes,
            latency="premium",
            choice=SERVER_CHOICE,
            most_disks=SERVER_DISKS,
        )
        return frontiers.frontier_figure(self._market, demand)

    @cached_property
    def _market(self) -> Market:
        """Where the curves are: in the region of the terms, else of the first bill."""
        measured = (one.region for found in self._priced.values() for one in found.values())
        region = self._terms.region or next(measured, DEFAULT_REGION)
        terms = self._terms
        return market(region, own=terms.own, as_of=terms.as_of or None, payment=self._payment)

    def _price_own(self, vm: str, disks: Sequence[str]) -> dict[str, Priced]:
        """The setup that the parameters state, if they state one."""
        if not (vm or disks):
            return {}
        if not self._terms.region:
            raise InputError("region: name the region that the setup is priced in, such as westeurope")
        setup = notation.stated_setup(vm, disks, self._terms.as_of or None)
        return {" with ".join(filter(None, (vm, ", ".join(disks)))): price(setup, self._terms)}

    def _bill_of(self, part: Part, place: str) -> Block | None:
        named = [(str(bills.called(part, key)), one) for key, one in self._priced[place].items()]
        return self._bills(named, place) if named else None

    def _bills(self, named: Sequence[tuple[str, Priced]], place: str) -> Block:
        document = bills_document(named, self._terms.hours)
        return block(document, frame(document.tables()[0]) if document.tables() else None, place=place)

    def _delivered_of(self, part: Part, place: str) -> Block | None:
        found, rates = self._priced[place], bills.workloads(part)
        known = rates[[key in found and found[key].total is not None for key in rates["setup_id"]]]
        shares = [(part, found, known[:MOST_ROWS])]
        return bills.delivered_block(shares, f"{place}-price") if len(known) else None

    def _published_of(self, part: Part, place: str) -> Block | None:
        tables = part.dataset.tables
        counted, printed = published_costs.recounts(tables), published_costs.vm_prices(tables)
        made = [bills.recounted(counted, place)] if counted else []
        if len(printed):
            made.append(bills.printed_vm_prices(printed, part, self._terms, place))
        return Block("\n".join(block.html for block in made)) if made else None
