"""Usage: dulwich.py read <repository> <prefix of refs>... | clone <url> <directory> | collect <repository>"""
import hashlib
import sys

from dulwich import porcelain
from dulwich.gc import garbage_collect
from dulwich.notes import NotesTree
from dulwich.objects import Commit, S_ISGITLINK, Tree
from dulwich.repo import Repo


def digest(data):
    return hashlib.sha256(data).hexdigest()


def digits(id):
    return id.decode() if len(id) in (40, 64) else id.hex()


verb, *args = sys.argv[1:]
if verb == "clone":
    repo = porcelain.clone(args[0], args[1], errstream=open("/dev/null", "wb"))
elif verb == "collect":
    repo = Repo(args[0])
    garbage_collect(repo, prune=True, grace_period=0)
else:
    repo = Repo(args[0])
    seen, todo, notes = set(), [], []
    for name in repo.refs.allkeys():
        if name.decode().startswith(tuple(args[1:])) and not repo.refs.read_ref(name).startswith(b"ref: "):
            id = repo.refs[name]
            print("ref", name.decode(), digits(id))
            todo.append(id)
            if name.startswith(b"refs/notes/"):
                notes.append((name, id))
    while todo:
        id = todo.pop()
        if id in seen:
            continue
        seen.add(id)
        it = repo.object_store[id]
        print("object", digits(id), it.type_name.decode(), digest(it.as_raw_string()))
        if isinstance(it, Commit):
            todo += [it.tree, *it.parents]
            payload, signature, *_ = it.extract_signature()
            if signature is not None:
                print("signature", digits(id), digest(signature.rstrip(b"\n")))
                print("signed", digits(id), digest(payload))
        elif isinstance(it, Tree):
            todo += [e.sha for e in it.items() if not S_ISGITLINK(e.mode)]
    for name, id in notes:
        tree = NotesTree(repo.object_store[repo.object_store[id].tree], repo.object_store)
        for on, _ in tree.list_notes():
            print("note", name.decode(), digits(on), digest(repo.notes.get_note(on, name)))
repo.close()
