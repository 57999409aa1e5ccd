/** A fenced block, and the comment `<!-- test: … -->` before it, if any. */
export interface Block {
  readonly language: string;
  readonly code: string;
  readonly line: number;
  readonly mark: string | null;
}

export interface Heading {
  readonly level: number;
  readonly text: string;
}

const FENCE = /^```(\w*)$/;
const MARK = /^<!-- test: (.+) -->$/;

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; line: number; mark: string | null; lines: string[] } | null = null;
  let mark: string | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = FENCE.exec(line);
    if (open !== null) {
      if (fence === null) open.lines.push(line);
      else {
        const { lines, ...block } = open;
        blocks.push({ ...block, code: lines.join('\n') });
        open = null;
        mark = null;
      }
    } else if (fence !== null) open = { language: fence[1] ?? '', line: index + 1, mark, lines: [] };
    else if (line !== '') mark = MARK.exec(line)?.[1] ?? null;
  }
  if (open !== null) throw new Error(`the block that begins in line ${open.line} has no end`);
  return blocks;
}

export function headingsOf(markdown: string): Heading[] {
  return withoutBlocks(markdown)
    .split('\n')
    .flatMap((line) => {
      const found = /^(#{1,6}) (.+)$/.exec(line);
      return found === null ? [] : [{ level: found[1]?.length ?? 0, text: found[2] ?? '' }];
    });
}

export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** The inline code spans of text and tables. */
export function codeSpansOf(markdown: string): string[] {
  return [...withoutBlocks(markdown).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
}

/** Targets of links and images, without those that lead out of the repository. */
export function localLinksOf(markdown: string): string[] {
  const inline = [...withoutBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  const html = [...withoutBlocks(markdown).matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  );
  return [...inline, ...html].filter((link) => !/^(https?:|mailto:)/.test(link));
}

/** Every table, as rows of trimmed cells, its head first. */
export function tablesOf(markdown: string): string[][][] {
  const tables: string[][][] = [];
  let open: string[][] | null = null;
  for (const line of withoutBlocks(markdown).split('\n')) {
    if (!line.startsWith('| ')) {
      open = null;
      continue;
    }
    if (open === null) tables.push((open = []));
    const cells = line.split('|').slice(1, -1);
    if (!cells.every((cell) => /^ *-+ *$/.test(cell))) open.push(cells.map((cell) => cell.trim()));
  }
  return tables;
}
