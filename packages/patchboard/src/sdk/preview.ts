const TEXT_LENGTH = 200;
const ITEMS = 10;
const MEMBERS = 20;
const DEPTH = 4;

/** Returns a copy small enough for an event or a list: long texts, lists and deep members are truncated with a note. */
export function preview(value: unknown, depth: number = DEPTH): unknown {
  if (typeof value === 'string') return previewText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return previewItems(value, depth);
  const entries = Object.entries(value);
  if (depth === 0 && entries.length > 0) return `{… ${entries.length} members}`;
  const shown = entries.slice(0, MEMBERS).map(([key, member]) => [key, preview(member, depth - 1)] as const);
  const left = entries.length - shown.length;
  return Object.fromEntries(left > 0 ? [...shown, ['…', `${left} more members`]] : shown);
}

function previewText(text: string): string {
  if (text.length <= TEXT_LENGTH) return text;
  return `${cut(text, TEXT_LENGTH)}… (${text.length} characters)`;
}

function previewItems(items: readonly unknown[], depth: number): unknown {
  if (depth === 0 && items.length > 0) return `[… ${items.length} items]`;
  const shown = items.slice(0, ITEMS).map((item) => preview(item, depth - 1));
  return items.length > shown.length ? [...shown, `… ${items.length - shown.length} more items`] : shown;
}

/** Cuts text to at most `length` UTF-16 units without splitting a surrogate pair. */
export function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
