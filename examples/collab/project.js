// The files of one project: lines of text that several people edit at once.
//
// An edit says which version of the file its author saw. Edits that others made since then move it to where its lines are now;
// they are kept for that, the last MOST_RECENT of them. The order is the server's: everybody who applies the edits as they are
// told, by version, has the same text. Two who replace the same line: the later one wins, and neither disturbs another line.
//
// Everything has a limit. What is over it is refused, with a sentence for the person at the other end.

const MOST_FILES = 100;
const MOST_LINES = 10_000;
const MOST_CHARACTERS = 1 << 20;
const MOST_RECENT = 500;

/** What a user asked for and does not get; the message is for the user. */
export class Refused extends Error {}

/** Where the gap before a line is after an edit. */
function moved(line, edit) {
  if (line <= edit.line) return line;
  if (line < edit.line + edit.remove) return edit.line;
  return line + edit.insert.length - edit.remove;
}

const sizeOf = (lines) => lines.reduce((sum, line) => sum + line.length + 1, 0);

class TextFile {
  /** Version 0 is a file that was never saved. */
  constructor(lines, version) {
    this.lines = lines;
    this.size = sizeOf(lines);
    this.version = version;
    this.savedVersion = version;
    this.saved = version > 0 ? lines.join("\n") : undefined;
    this.recent = [];
  }

  /** The edit as it was seen from `version`, moved to where it belongs now. */
  rebase({ version, line, remove, insert }) {
    const since = this.version - version;
    if (since < 0) throw new Refused(`version ${version} is ahead of the file's ${this.version}`);
    if (since > this.recent.length) throw new Refused(`version ${version} is too old, the file has ${this.version}: open it again`);
    let [from, to] = [line, line + remove];
    for (const edit of this.recent.slice(this.recent.length - since)) {
      [from, to] = [moved(from, edit), moved(to, edit)];
    }
    if (to > this.lines.length) throw new Refused(`lines ${from + 1} to ${to} were asked for, the file has ${this.lines.length}`);
    return { line: from, remove: to - from, insert };
  }

  /** Applies an edit; returns it as everybody is to apply it. */
  edit(asked) {
    const edit = this.rebase(asked);
    const size = this.size + sizeOf(edit.insert) - sizeOf(this.lines.slice(edit.line, edit.line + edit.remove));
    const length = this.lines.length + edit.insert.length - edit.remove;
    if (size > MOST_CHARACTERS || length > MOST_LINES) throw new Refused(`the file is full: ${MOST_LINES} lines and ${MOST_CHARACTERS} characters at most`);
    this.lines.splice(edit.line, edit.remove, ...edit.insert);
    this.size = size;
    this.version += 1;
    this.recent.push(edit);
    if (this.recent.length > 2 * MOST_RECENT) this.recent = this.recent.slice(-MOST_RECENT);
    return { version: this.version, ...edit };
  }
}

/** A project's files by name. */
export class Project {
  constructor(files) {
    this.files = new Map(Object.entries(files).map(([name, text]) => [name, new TextFile(text.split("\n"), 1)]));
  }

  #file(name) {
    const file = this.files.get(name);
    if (!file) throw new Refused(`there is no file ${name}`);
    return file;
  }

  list() {
    return [...this.files].map(([file, { version, savedVersion, lines }]) => ({ file, version, savedVersion, lines: lines.length }));
  }

  open(name) {
    const { version, lines } = this.#file(name);
    return { file: name, version, text: lines.join("\n") };
  }

  /** An edit of version 0 makes the file. */
  edit(name, asked) {
    if (asked.version === 0 && !this.files.has(name)) {
      if (this.files.size >= MOST_FILES) throw new Refused(`the project is full: ${MOST_FILES} files at most`);
      const file = new TextFile([], 0);
      const edit = file.edit(asked);
      this.files.set(name, file);
      return edit;
    }
    return this.#file(name).edit(asked);
  }

  /** Keeps the text as it is now. */
  save(name) {
    const file = this.#file(name);
    file.saved = file.lines.join("\n");
    file.savedVersion = file.version;
    return { file: name, version: file.version, size: file.saved.length };
  }

  /** What was saved last. */
  saved(name) {
    return this.files.get(name)?.saved;
  }
}
