import {
  CONTENT_KEY,
  structuredText,
  WIRE_LIMITS,
  type ContentValue,
  type ResultBlock,
  contentText,
} from '@patchboard/wire';
import { hasContent } from '../../core/call/content.ts';
import { failure, foreignText, ToolFailure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import { utf8Bytes } from '../../core/json/utf8-bytes.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { META } from '../../protocols/mcp/revisions.ts';
import { invalidResult, reportedExtra, type FailureParts } from './call-failures.ts';

/**
 * Converts the result of `tools/call` to the value of the call: the plainest one that loses nothing. One block of text becomes
 * a string, JSON that a text block repeats becomes that JSON, anything else a content value. Throws `ToolFailure` for a result
 * with `isError`, and for one that is not a result of MCP.
 */
export function resultValue(
  parts: FailureParts,
  given: Readonly<Record<string, unknown>>,
  { outputSchema }: Pick<UpstreamTool, 'outputSchema'>,
): unknown {
  const {
    content,
    structuredContent: structured,
    isError,
    _meta: meta,
  } = parts.mask.value(given) as Readonly<Record<string, unknown>>;
  const blocks = content ?? (structured === undefined ? undefined : []);
  if (!Array.isArray(blocks)) throw invalidResult(parts);
  const value: ContentValue = {
    [CONTENT_KEY]: blocks as ResultBlock[],
    ...(structured === undefined ? {} : { structured }),
  };
  if (isError === true) throw reportedFailure(value, meta);
  const plain = plainValue(value, outputSchema !== null);
  return plain === undefined || exceedsPlainLimit(plain) ? value : plain;
}

function reportedFailure(value: ContentValue, meta: unknown): ToolFailure {
  const text = contentText(value);
  const extra = reportedExtra(isRecord(meta) ? meta[META.error] : undefined);
  return new ToolFailure(
    failure('tool_failed', text.trim() === '' ? undefined : foreignText(text), {
      ...extra,
      toolResult: value,
    }),
  );
}

/** Undefined: the value needs its blocks. `hasSchema`: the result must have `structured`, and fails without it. */
function plainValue(value: ContentValue, hasSchema: boolean): unknown {
  const { structured } = value;
  const blocks = value[CONTENT_KEY];
  const [text] = blocks.map(plainText);
  if (structured !== undefined) {
    const isRepeated = blocks.length === 0 || (text !== undefined && structuredText(value) === null);
    return blocks.length <= 1 && isRepeated && !hasContent(structured) ? structured : undefined;
  }
  return blocks.length === 1 && !hasSchema ? text : undefined;
}

/** The text of a block that has no other members. */
function plainText(block: unknown): string | undefined {
  if (!isRecord(block) || block['type'] !== 'text' || Object.keys(block).length !== 2) return undefined;
  return typeof block['text'] === 'string' ? block['text'] : undefined;
}

/** A result with content may be larger than a plain one. */
function exceedsPlainLimit(value: unknown): boolean {
  const json = JSON.stringify(value);
  return json.length * 3 > WIRE_LIMITS.resultBytes && utf8Bytes(json) > WIRE_LIMITS.resultBytes;
}
