"""Reads a rendered report as a person would, and reckons every figure again from the tables.

Nothing here is taken from ``azbenchlib.analysis``, ``report``, ``plots`` or ``model``: a fault in what made
a page must not be a fault of what reads it. ``azbenchlib.dataset`` gives the tables, makers of outputs
(:mod:`readback.foreign`) the truth that they made their files from.

============  ==========================================================================================
`figures`     numbers in text, with unit, bound and the precision that they are shown with
`naming`      of which setup, workload and direction a text speaks
`reckoning`   what a dataset's figures are: rates, percentiles, limits, by sums and medians of its rows
`money`       what a setup costs, from the rows of the price book
`page`        the blocks of a page, each with what it speaks of
`drawing`     axes, marks and labels of a figure
`check`       every number of the page against what was reckoned
============  ==========================================================================================
"""
