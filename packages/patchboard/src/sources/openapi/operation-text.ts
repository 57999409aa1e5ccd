import { utf8Bytes } from '../../core/json/utf8-bytes.ts';
import type { JsonObject } from '@patchboard/wire/json';

const DEPRECATED = 'Deprecated.';
const CUT = '…';

/** Returns summary and description as one text of at most `maxBytes`; a longer one is cut and ends in `…`. */
export function operationText({ summary, description, deprecated }: JsonObject, maxBytes: number): string {
  const head = textOf(summary);
  const body = textOf(description);
  // Many descriptions repeat the summary.
  const texts = body.startsWith(head) ? [body] : [head, body];
  const parts = [...(deprecated === true ? [DEPRECATED] : []), ...texts].filter((part) => part !== '');
  return cutTo(parts.join('\n\n'), maxBytes);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : '';
}

function cutTo(text: string, maxBytes: number): string {
  if (utf8Bytes(text) <= maxBytes) return text;
  const room = maxBytes - utf8Bytes(CUT);
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Bytes(character);
    if (bytes > room) break;
    end += character.length;
  }
  return `${text.slice(0, end).trimEnd()}${CUT}`;
}
