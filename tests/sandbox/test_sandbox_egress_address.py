"""What is a public address: nothing that leads to this machine, its network, or around this judgement."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.sandbox.egress.address import AddressRule, special
from vera.sandbox.egress.dial import is_own


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
        ),
        *("169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1"),
        *(
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
        ),
        *("255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:93.184.216.34"),
        *("64:ff9b::7f00:1", "64:ff9b::5db8:d822", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001::7f00:1"),
        *("2001:10::1", "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0"),
        *("fec0::1", "ff02::1", "100::1", "5f00::1", "4000::1", "2606:4700::1%eth0"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert special(ip_address(address))
    assert "no public address" in AddressRule().refusal(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1"),
        *(
            "192.0.1.1",
            "192.169.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450::1",
        ),
    ],
)
def test_a_public_address_is_admitted(address: str) -> None:
    assert AddressRule().refusal(ip_address(address)) == ""


def test_a_named_range_admits_what_lies_in_it_and_no_other_form_of_it() -> None:
    rule = AddressRule.of(["10.1.2.0/24", "fd00:1::/64"])
    assert rule.refusal(ip_address("10.1.2.3")) == ""
    assert rule.refusal(ip_address("fd00:1::5")) == ""
    for outside in (
        "10.1.3.3",
        "::ffff:10.1.2.3",
        "2002:a01:203::",
        "64:ff9b::a01:203",
        "127.0.0.1",
        "fd00:2::1",
    ):
        assert rule.refusal(ip_address(outside))


@given(st.ip_addresses(v=4))
def test_nothing_that_the_standard_library_calls_private_is_public(address: IPv4Address) -> None:
    if not special(address):
        assert address.is_global
        assert not address.is_multicast


@given(st.ip_addresses(v=4))
def test_no_ipv6_form_of_an_ipv4_address_is_public(address: IPv4Address) -> None:
    number = int(address)
    forms = [number, 0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80]
    forms.append(0x20010000 << 96 | (number ^ 0xFFFFFFFF))
    assert all(special(IPv6Address(form)) for form in forms)


def test_the_addresses_of_this_machine_are_known() -> None:
    assert is_own(ip_address("127.0.0.1"))
    assert not is_own(ip_address("192.0.2.1"))
