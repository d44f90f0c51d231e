"""Parts of multipart bodies by the parser of Python's email package: parse.py FOLDER, which has N.type and N.body."""
import email
import email.policy
import json
import os
import sys


def one_char_a_byte(raw):
    """Bytes that are not ASCII come as surrogates, which the reading of parameters would replace."""
    return None if raw is None else raw.encode("ascii", "surrogateescape").decode("latin-1")


def octets(text):
    return None if text is None else list(text.encode("latin-1"))


def parts(kind, body):
    message = email.message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + body, policy=email.policy.compat32)
    assert message.is_multipart() and not message.defects, message.defects
    for part in message.get_payload():
        assert not part.defects, part.defects
        raw = {name.lower(): one_char_a_byte(value) for name, value in part._headers}
        header = email.message.Message()
        header._headers = [("content-disposition", raw["content-disposition"])]
        params = dict(header.get_params(header="content-disposition"))
        yield {"name": octets(params["name"]), "filename": octets(params.get("filename")),
               "type": octets(raw.get("content-type")), "content": list(part.get_payload(decode=True))}


folder = sys.argv[1]
for number in range(sum(name.endswith(".body") for name in os.listdir(folder))):
    read = lambda suffix: open(os.path.join(folder, f"{number}.{suffix}"), "rb").read()
    print(json.dumps(list(parts(read("type"), read("body")))))
