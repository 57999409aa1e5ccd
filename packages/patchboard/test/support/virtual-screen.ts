/** A minimal terminal emulator, to check what the screens show. */
export class VirtualScreen {
  readonly #columns: number;
  #rows: string[][] = [];
  #row = 0;
  #column = 0;
  isAlternate = false;
  isCursorShown = true;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(text: string): void {
    const part = /\u001b\[(\?)?([\d;]*)([A-Za-z])|\u001b[()][A-Z0-9]|\r|\n|[^\u001b\r\n]/gu;
    for (const match of text.matchAll(part)) {
      const [whole, isPrivate, numbers, command] = match;
      if (command !== undefined) this.#obey(command, isPrivate === '?', numbers ?? '');
      else if (whole === '\r') this.#column = 0;
      else if (whole === '\n') this.#row += 1;
      else if (!whole.startsWith('\u001b')) this.#put(whole);
    }
  }

  lines(): string[] {
    return Array.from(this.#rows, (row) =>
      Array.from(row ?? [], (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  text(): string {
    return this.lines().join('\n');
  }

  #obey(command: string, isPrivate: boolean, numbers: string): void {
    const [first = Number.NaN, second = Number.NaN] = numbers.split(';').map(Number);
    if (isPrivate && first === 1049) this.isAlternate = command === 'h';
    if (isPrivate && first === 25) this.isCursorShown = command === 'h';
    if (isPrivate) return;
    if (command === 'H') [this.#row, this.#column] = [(first || 1) - 1, (second || 1) - 1];
    if (command === 'K') this.#rows[this.#row]?.splice(this.#column);
    if (command === 'J' && first === 2) this.#rows = [];
    else if (command === 'J') this.#rows.splice(this.#row);
  }

  #put(character: string): void {
    if (this.#column >= this.#columns) return;
    const row = (this.#rows[this.#row] ??= []);
    row[this.#column] = character;
    this.#column += 1;
  }
}
