"""Tests of what the directory promises."""

import pytest

from directory import Directory, DuplicateUser, UnknownUser, User

ADA = User("ada", "Ada Lovelace", "ada@example.org")
ALAN = User("alan", "Alan Turing", "alan@example.org")


def test_gets_a_user_by_login():
    directory = Directory()
    directory.add(ADA)
    assert directory.get("ada") == ADA


def test_refuses_a_login_twice():
    directory = Directory()
    directory.add(ADA)
    with pytest.raises(DuplicateUser):
        directory.add(User("ada", "Ada Yonath", "yonath@example.org"))
    assert directory.get("ada") == ADA


def test_names_the_unknown_login():
    with pytest.raises(UnknownUser, match="grace"):
        Directory().get("grace")


def test_lists_users_in_the_order_of_adding():
    directory = Directory()
    directory.add(ALAN)
    directory.add(ADA)
    assert list(directory) == [ALAN, ADA]
    assert len(directory) == 2
