import {
  blockName,
  blocksOf,
  CONTENT_KEY,
  isContentJson,
  isContentValue,
  sizeText,
  WIRE_LIMITS,
  type ContentValue,
  type ResultBlock,
  type TextResult,
} from '@patchboard/wire';
import { utf8Bytes } from '../json/utf8-bytes.ts';

/** Named one by one up to here; the blocks after that are counted. */
const MAX_NAMED = 20;
/** Room for the names of the blocks that are left out. */
const NAMES_BYTES = 8192;

/**
 * The result of a call as a row of a list carries it: content of more than 64 KiB is replaced, block by block, by texts
 * that name it. Any other result is returned as it is, after a look at its first characters.
 */
export function listedResult(resultJson: string, callId: string): string {
  if (!isContentJson(resultJson) || fitsList(resultJson)) return resultJson;
  const hint = `read GET /v1/tool_calls/${callId}`;
  return JSON.stringify(namedContent(JSON.parse(resultJson) as ContentValue, hint));
}

/** The same for the data of an event, which no record has. */
export function eventContent(data: unknown): unknown {
  if (!isContentValue(data) || fitsList(JSON.stringify(data))) return data;
  return namedContent(data, `an event carries at most ${sizeText(WIRE_LIMITS.listedContent)} of content`);
}

/** A UTF-16 unit takes at most three bytes in UTF-8. */
function fitsList(json: string): boolean {
  const { listedContent } = WIRE_LIMITS;
  return json.length * 3 <= listedContent || utf8Bytes(json) <= listedContent;
}

/** Keeps what fits into the limit, in order, and names the rest. */
function namedContent(value: ContentValue, hint: string): ContentValue {
  let left = WIRE_LIMITS.listedContent - NAMES_BYTES;
  let named = 0;
  let omitted = 0;
  let omittedBytes = 0;
  const kept: ResultBlock[] = [];
  for (const block of blocksOf(value)) {
    const bytes = utf8Bytes(JSON.stringify(block));
    if (bytes <= left) {
      left -= bytes;
      kept.push(block);
    } else if (named < MAX_NAMED) {
      named += 1;
      kept.push(placeholder(blockName(block), hint));
    } else {
      omitted += 1;
      omittedBytes += bytes;
    }
  }
  if (omitted > 0) kept.push(placeholder(`[${omitted} more blocks, ${sizeText(omittedBytes)}]`, hint));
  const { structured } = value;
  if (structured === undefined) return { [CONTENT_KEY]: kept };
  const bytes = utf8Bytes(JSON.stringify(structured));
  if (bytes <= left) return { [CONTENT_KEY]: kept, structured };
  kept.push(placeholder(`[structured, ${sizeText(bytes)}]`, hint));
  return { [CONTENT_KEY]: kept };
}

/** `_meta` marks the text for programs, which must not take it for the tool's own. */
function placeholder(name: string, hint: string): TextResult {
  return {
    type: 'text',
    text: `${name.slice(0, 200)} is left out here: ${hint}`,
    _meta: { 'patchboard/omitted': true },
  };
}
