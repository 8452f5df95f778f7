// Usage: isomorphic-git.mjs <node_modules> (read <repository> <prefix of refs>... | clone <url> <directory>)
import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, verb, dir, ...prefixes] = process.argv.slice(2);
const load = createRequire(path.join(modules, 'of'));
const git = load('isomorphic-git');
if (verb === 'clone') {
	await git.clone({ fs, http: load('isomorphic-git/http/node'), url: dir, dir: prefixes[0] });
	process.exit();
}

const of = { fs, gitdir: path.join(dir, '.git'), cache: {} };
const digest = data => crypto.createHash('sha256').update(data).digest('hex');

const todo = [], seen = new Set(), notes = [];
for (const name of await git.listRefs({ ...of, filepath: 'refs' })) {
	const ref = `refs/${name}`;
	if (!prefixes.some(p => ref.startsWith(p))) continue;
	const id = await git.resolveRef({ ...of, ref, depth: 2 });
	if (id.includes('/')) continue;
	console.log('ref', ref, id);
	todo.push(id);
	if (ref.startsWith('refs/notes/')) notes.push(ref);
}
while (todo.length) {
	const oid = todo.pop();
	if (seen.has(oid)) continue;
	seen.add(oid);
	const { type, object } = await git.readObject({ ...of, oid, format: 'content' });
	console.log('object', oid, type, digest(object));
	if (type === 'commit') {
		const { commit, payload } = await git.readCommit({ ...of, oid });
		todo.push(commit.tree, ...commit.parent);
		if (commit.gpgsig) {
			console.log('signature', oid, digest(commit.gpgsig.trimEnd()));
			console.log('signed', oid, digest(payload));
		}
	} else if (type === 'tree') {
		const { tree } = await git.readTree({ ...of, oid });
		todo.push(...tree.filter(e => e.type !== 'commit').map(e => e.oid));
	}
}
for (const ref of notes) {
	for (const { target } of await git.listNotes({ ...of, ref })) {
		console.log('note', ref, target, digest(await git.readNote({ ...of, ref, oid: target })));
	}
}
