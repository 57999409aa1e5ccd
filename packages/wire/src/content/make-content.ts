import {
  CONTENT_KEY,
  type AudioResult,
  type ContentValue,
  type ImageResult,
  type ResourceResult,
  type ResultBlock,
} from './content-value.ts';

const DIGITS = Uint8Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', (digit) =>
  digit.charCodeAt(0),
);
const PADDING = 61; // =
/** Bytes that become one piece of text. A function takes a limited number of arguments, here 8192. */
const PIECE_BYTES = 6144;

/** Makes a result with content. A string is a text block. `structured`: the JSON result beside the blocks. */
export function content(blocks: readonly (ResultBlock | string)[], structured?: unknown): ContentValue {
  if (!Array.isArray(blocks)) throw new TypeError('content() takes a list of blocks and texts');
  const made = blocks.map((block: ResultBlock | string) =>
    typeof block === 'string' ? ({ type: 'text', text: block } as const) : block,
  );
  return { [CONTENT_KEY]: made, ...(structured === undefined ? {} : { structured }) };
}

/** `data`: bytes, or base64. */
export function imageBlock(data: Uint8Array | string, mimeType = 'image/png'): ImageResult {
  return { type: 'image', data: base64Of(data), mimeType };
}

/** `data`: bytes, or base64. */
export function audioBlock(data: Uint8Array | string, mimeType: string): AudioResult {
  return { type: 'audio', data: base64Of(data), mimeType };
}

/** A resource with its contents: text, or bytes. */
export function resourceBlock(uri: string, contents: string | Uint8Array, mimeType?: string): ResourceResult {
  const body = typeof contents === 'string' ? { text: contents } : { blob: encodeBase64(contents) };
  return { type: 'resource', resource: { uri, ...(mimeType === undefined ? {} : { mimeType }), ...body } };
}

function base64Of(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : encodeBase64(data);
}

/** Encodes bytes as base64, in every runtime. */
function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; from += PIECE_BYTES)
    pieces.push(String.fromCharCode(...digitsOf(bytes.subarray(from, from + PIECE_BYTES))));
  return pieces.join('');
}

/** Returns the character codes of the digits. */
function digitsOf(bytes: Uint8Array): Uint8Array {
  const digits = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  let to = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    // Zero past the end; only the digits that hold bytes are written.
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const length = Math.min(3, bytes.length - at) + 1;
    for (let digit = 0; digit < length; digit += 1)
      digits[to + digit] = DIGITS[(group >> (18 - 6 * digit)) & 63] ?? 0;
    to += 4;
  }
  return digits;
}
