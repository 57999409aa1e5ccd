import { CONTENT_KEY, type ContentValue, type ResultBlock } from './content-value.ts';

/** Returns the number of bytes that base64 text stands for. */
export function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** Returns a size for people: `512 B`, `12 kB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the name of a block that cannot be shown, such as `[image/png, 12 kB]`. */
export function blockName(block: ResultBlock): string {
  switch (block.type) {
    case 'text':
      return `[text, ${block.text.length} characters]`;
    case 'image':
    case 'audio':
      return `[${block.mimeType}, ${sizeText(base64Bytes(block.data))}]`;
    case 'resource': {
      const { uri, mimeType, text, blob } = block.resource;
      const size = blob === undefined ? `${text?.length ?? 0} characters` : sizeText(base64Bytes(blob));
      return `[${mimeType ?? 'resource'}, ${size}, ${uri}]`;
    }
    case 'resource_link':
      return `[${block.title ?? block.name}: ${block.uri}]`;
  }
}

/** Returns a block as text: text as it is, anything else by its name. */
export function blockText(block: ResultBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource' && block.resource.text !== undefined) return block.resource.text;
  return blockName(block);
}

/** Returns a content value as text, for readers of text only. */
export function contentText(value: ContentValue): string {
  const texts = blocksOf(value).map(blockText);
  const structured = structuredText(value);
  return [...texts, ...(structured === null ? [] : [structured])].join('\n');
}

/** Returns the JSON of `structured`; null if there is none, or if a text block holds the same JSON already. */
export function structuredText(value: ContentValue): string | null {
  const { structured } = value;
  if (structured === undefined) return null;
  const json = JSON.stringify(structured);
  const isRepeated = blocksOf(value).some((block) => block.type === 'text' && isSameJson(block.text, json));
  return isRepeated ? null : json;
}

/**
 * Returns the blocks that are complete. A stored result has no others; content from elsewhere, such as the text that a
 * hook gives in place of a denied call, was not validated.
 */
export function blocksOf(value: ContentValue): readonly ResultBlock[] {
  return value[CONTENT_KEY].filter(isReadable);
}

function isReadable(block: unknown): block is ResultBlock {
  if (typeof block !== 'object' || block === null) return false;
  const { type, text, data, mimeType, resource, uri, name } = block as Readonly<Record<string, unknown>>;
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'image':
    case 'audio':
      return typeof data === 'string' && typeof mimeType === 'string';
    case 'resource':
      return typeof resource === 'object' && resource !== null && 'uri' in resource;
    case 'resource_link':
      return typeof uri === 'string' && typeof name === 'string';
    default:
      return false;
  }
}

/** Whether the text is the same JSON. MCP servers repeat the structured result as text, indented or not. */
function isSameJson(text: string, json: string): boolean {
  if (text === json) return true;
  // Other JSON of the same value is longer only by white space.
  if (text.length < json.length || !/^\s*[[{"]/.test(text)) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false; // Text that only begins like JSON.
  }
}
