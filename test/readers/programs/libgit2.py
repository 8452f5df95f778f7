"""Usage: libgit2.py read <repository> <prefix of refs>... | clone <url> <directory>"""
import hashlib
import sys

import pygit2


def digest(data):
    return hashlib.sha256(data).hexdigest()


verb, *args = sys.argv[1:]
if verb == "clone":
    pygit2.clone_repository(args[0], args[1])
else:
    repo = pygit2.Repository(args[0])
    kinds = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
    seen, todo, notes = set(), [], []
    for name in repo.references:
        target = repo.references[name].target
        if name.startswith(tuple(args[1:])) and isinstance(target, pygit2.Oid):
            print("ref", name, target)
            todo.append(target)
            if name.startswith("refs/notes/"):
                notes.append(name)
    while todo:
        id = todo.pop()
        if id in seen:
            continue
        seen.add(id)
        it = repo[id]
        print("object", id, kinds[it.type], digest(it.read_raw()))
        if isinstance(it, pygit2.Commit):
            todo += [it.tree_id, *it.parent_ids]
            signature, payload = it.gpg_signature
            if signature is not None:
                print("signature", id, digest(signature.rstrip(b"\n")))
                print("signed", id, digest(payload))
        elif isinstance(it, pygit2.Tree):
            todo += [entry.id for entry in it if entry.filemode != pygit2.enums.FileMode.COMMIT]
    for name in notes:
        for note in repo.notes(name):
            on = str(note.annotated_id)
            print("note", name, on, digest(repo.lookup_note(on, name).message.encode()))
