import { encodeBase64 } from './base64.ts';
import {
  CONTENT_KEY,
  type AudioResult,
  type ContentValue,
  type ImageResult,
  type ResourceResult,
  type ResultBlock,
} from './content-value.ts';

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
