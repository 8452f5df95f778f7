// Usage: JGit.java read <repository> <prefix of refs>... | clone <url> <directory> | collect <repository>

import java.io.File;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;

import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.lib.*;
import org.eclipse.jgit.notes.Note;
import org.eclipse.jgit.notes.NoteMap;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;
import org.eclipse.jgit.treewalk.CanonicalTreeParser;

public class JGit {
	static String digest(byte[] data) throws Exception {
		return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
	}

	public static void main(String[] args) throws Exception {
		switch (args[0]) {
			case "read" -> read(args);
			case "clone" -> Git.cloneRepository().setURI(args[1]).setDirectory(new File(args[2])).call().close();
			case "collect" -> {
				try (var git = Git.open(new File(args[1]))) {
					git.gc().setExpire(new Date()).call();
				}
			}
		}
	}

	static void read(String[] args) throws Exception {
		var prefixes = Arrays.asList(args).subList(2, args.length);
		try (var repo = new FileRepositoryBuilder().setGitDir(new File(args[1], ".git")).setMustExist(true).build();
				var reader = repo.newObjectReader();
				var walk = new RevWalk(reader)) {
			var todo = new ArrayDeque<ObjectId>();
			var notes = new ArrayList<Ref>();
			for (Ref ref : repo.getRefDatabase().getRefs()) {
				if (ref.isSymbolic() || prefixes.stream().noneMatch(ref.getName()::startsWith))
					continue;
				System.out.println("ref " + ref.getName() + " " + ref.getObjectId().name());
				todo.push(ref.getObjectId());
				if (ref.getName().startsWith("refs/notes/"))
					notes.add(ref);
			}
			Set<ObjectId> seen = new HashSet<>();
			while (!todo.isEmpty()) {
				ObjectId id = todo.pop();
				if (!seen.add(id.toObjectId()))
					continue;
				var loader = reader.open(id);
				byte[] data = loader.getCachedBytes();
				System.out.println("object " + id.name() + " " + Constants.typeString(loader.getType()) + " " + digest(data));
				if (loader.getType() == Constants.OBJ_COMMIT) {
					RevCommit commit = walk.parseCommit(id);
					todo.push(commit.getTree());
					for (RevCommit parent : commit.getParents())
						todo.push(parent);
					byte[] signature = commit.getRawGpgSignature();
					if (signature != null)
						System.out.println("signature " + id.name() + " " + digest(new String(signature).stripTrailing().replace("\n ", "\n").getBytes()));
				} else if (loader.getType() == Constants.OBJ_TREE) {
					var tree = new CanonicalTreeParser(null, reader, id);
					for (; !tree.eof(); tree.next())
						if (!tree.getEntryFileMode().equals(FileMode.GITLINK))
							todo.push(tree.getEntryObjectId());
				}
			}
			for (Ref ref : notes) {
				NoteMap map = NoteMap.read(reader, walk.parseCommit(ref.getObjectId()));
				for (Note note : map)
					System.out.println("note " + ref.getName() + " " + note.name() + " " + digest(reader.open(map.get(note)).getCachedBytes()));
			}
		}
	}
}
