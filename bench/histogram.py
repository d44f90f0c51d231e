"""Reads the histograms of result documents of schema 2, as docs/guides/results.md explains them."""

import struct

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

def buckets(histogram):
    """Lowest magnitude and samples of each bucket of a histogram, by ascending value."""
    at, value, shift, found = histogram["first"], 0, 0, []
    for digit in map(DIGITS.index, histogram["counts"]):
        value |= (digit & 31) << shift
        shift += 5
        if digit & 32:  # the number goes on
            continue
        number = value >> 1
        if value & 1:  # empty buckets
            at += number
        else:
            bits = max(abs(at) - 1, 0) << 42
            magnitude = struct.unpack("<d", struct.pack("<Q", bits))[0]
            found.append((magnitude if at >= 0 else -magnitude, number))
            at += 1
        value = shift = 0
    return found
