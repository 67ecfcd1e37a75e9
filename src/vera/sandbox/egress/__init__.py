"""The way out of a box: one policy, one reading of each host, one record for each connection.

A box has no network device. Its programs speak to a proxy on the box's own loopback, whose bytes come here;
this side looks names up, refuses what is not public, and connects to the address that it has checked.
What stands inside TLS cannot be seen from here: to a permitted host anything can go,
up to a number of bytes.
"""
