"""products.py - what the shop sells, what it was told about each product, and what visitors really like.

`told` is the click rate that the shop expects before the first click: the prior of the ranker.  It is
right for most products and wrong for eight: four of the products with the highest told rates are
clicked rarely, and four of the best products are among those with the lower told rates.
"""

import random

SLOTS = 6
TOLD_WEIGHT = 12  # a told rate weighs as much as so many observed visitors

# form, glaze, price, told click rate, true click rate of the simulated visitors
TABLE = [
    ("bottle", "amber", 42, 0.30, 0.04),
    ("vase", "fern", 58, 0.27, 0.26),
    ("cup", "slate", 16, 0.25, 0.03),
    ("bowl", "rose", 24, 0.23, 0.18),
    ("jar", "sand", 36, 0.21, 0.05),
    ("jug", "sky", 48, 0.19, 0.02),
    ("planter", "plum", 29, 0.17, 0.15),
    ("teapot", "honey", 74, 0.15, 0.14),
    ("vase", "ink", 62, 0.14, 0.10),
    ("bowl", "sea", 26, 0.13, 0.12),
    ("bottle", "moss", 39, 0.12, 0.03),
    ("cup", "coral", 18, 0.11, 0.09),
    ("jar", "rust", 34, 0.10, 0.08),
    ("teapot", "sea", 69, 0.09, 0.22),
    ("planter", "cream", 31, 0.08, 0.06),
    ("jug", "rose", 46, 0.07, 0.05),
    ("bowl", "honey", 22, 0.065, 0.30),
    ("bottle", "sky", 44, 0.06, 0.04),
    ("cup", "fern", 17, 0.055, 0.06),
    ("jar", "plum", 38, 0.05, 0.03),
    ("jug", "ink", 52, 0.045, 0.13),
    ("planter", "slate", 27, 0.04, 0.02),
    ("vase", "coral", 55, 0.03, 0.34),
    ("teapot", "cream", 71, 0.02, 0.01),
]

PRODUCTS = [
    {"id": f"{glaze}-{form}", "name": f"{glaze} {form}".capitalize(), "form": form, "glaze": glaze, "price": price, "told": told}
    for form, glaze, price, told, rate in TABLE
]
IDS = [product["id"] for product in PRODUCTS]
TOLD = {id: row[3] for id, row in zip(IDS, TABLE)}
RATES = {id: row[4] for id, row in zip(IDS, TABLE)}


def changed_tastes(seed, times):
    """The true rates after tastes have changed so many times: those of the table, shuffled."""
    rates = list(RATES.values())
    for time in range(times):
        random.Random(f"tastes {seed} {time}").shuffle(rates)
    return dict(zip(IDS, rates))


def clicks_per_list(shown, rates):
    """How many of the lists that show these products get a click, if a visitor leaves with the first."""
    passed = 1.0
    for id in shown:
        passed *= 1 - rates[id]
    return 1 - passed


def best_of(scores):
    return sorted(IDS, key=lambda id: -scores[id])[:SLOTS]
