import { CONTENT_KEY, reason, type ContentValue, type Reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';

/** Whether a tool returned a content value, in whatever order it wrote the members. Looks at one member only. */
export function hasContent(value: unknown): boolean {
  try {
    return isRecord(value) && value[CONTENT_KEY] !== undefined;
  } catch {
    // A getter throws: encoding the value as JSON fails too, and reports it.
    return false;
  }
}

/** The members in the order of a stored content value: `isContentValue` looks at the first. */
export function orderedContent(value: Readonly<Record<string, unknown>>): ContentValue {
  const { [CONTENT_KEY]: blocks, structured } = value as unknown as ContentValue;
  return { [CONTENT_KEY]: blocks, ...(structured === undefined ? {} : { structured }) };
}

/** Returns what is wrong with a content value; null if all blocks are content blocks of MCP. */
export function contentProblem(value: Readonly<Record<string, unknown>>): Reason | null {
  const blocks = value[CONTENT_KEY];
  if (!Array.isArray(blocks)) return reason('content_not_list');
  const other = Object.keys(value).find((key) => key !== CONTENT_KEY && key !== 'structured');
  if (other !== undefined) return reason('content_member_unknown', { member: other });
  for (const [index, block] of blocks.entries()) {
    const problem = blockProblem(block);
    if (problem !== null) return reason('content_block', { number: index + 1, problem: [problem] });
  }
  return null;
}

function blockProblem(block: unknown): Reason | null {
  if (!isRecord(block)) return reason('block_not_object');
  const { type } = block;
  switch (type) {
    case 'text':
      return typeof block['text'] === 'string'
        ? null
        : reason('block_member_wrong', { type, member: 'text' });
    case 'image':
    case 'audio':
      return base64Problem(type, 'data', block['data']) ?? mimeProblem(type, 'mimeType', block['mimeType']);
    case 'resource':
      return isRecord(block['resource'])
        ? resourceProblem(block['resource'])
        : reason('block_member_wrong', { type, member: 'resource' });
    case 'resource_link':
      return (
        textProblem(type, 'uri', block['uri']) ??
        textProblem(type, 'name', block['name']) ??
        (block['mimeType'] === undefined ? null : mimeProblem(type, 'mimeType', block['mimeType']))
      );
    default:
      return reason('block_type_unknown', { type: shortText(type) });
  }
}

function resourceProblem({ uri, mimeType, text, blob }: Readonly<Record<string, unknown>>): Reason | null {
  const uriProblem = textProblem('resource', 'resource.uri', uri);
  if (uriProblem !== null) return uriProblem;
  if (mimeType !== undefined) {
    const wrong = mimeProblem('resource', 'resource.mimeType', mimeType);
    if (wrong !== null) return wrong;
  }
  if ((text === undefined) === (blob === undefined)) return reason('block_without_contents');
  if (blob !== undefined) return base64Problem('resource', 'resource.blob', blob, true);
  return typeof text === 'string'
    ? null
    : reason('block_member_wrong', { type: 'resource', member: 'resource.text' });
}

function textProblem(type: string, member: string, given: unknown): Reason | null {
  return typeof given === 'string' && given !== '' ? null : reason('block_member_wrong', { type, member });
}

const MIME_TYPE = /^[\w.+-]+\/[\w.+-]+(?:\s*;.*)?$/;

function mimeProblem(type: string, member: string, given: unknown): Reason | null {
  if (typeof given !== 'string' || given === '') return reason('block_member_wrong', { type, member });
  if (given.length <= 255 && MIME_TYPE.test(given)) return null;
  return reason('block_not_mime_type', { type, member, given: shortText(given) });
}

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** A single search for a wrong character: a pattern for the whole text would need a stack as long as the text. */
function base64Problem(type: string, member: string, given: unknown, mayBeEmpty = false): Reason | null {
  if (typeof given !== 'string' || (given === '' && !mayBeEmpty))
    return reason('block_member_wrong', { type, member });
  const padding = given.endsWith('==') ? 2 : given.endsWith('=') ? 1 : 0;
  const wrong = given.search(NOT_BASE64);
  const at = wrong === -1 ? given.length : wrong;
  if (at >= given.length - padding && given.length % 4 === 0) return null;
  return reason('block_not_base64', { type, member, at: at + 1 });
}

function shortText(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? 'undefined');
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
