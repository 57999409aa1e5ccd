import { CONTENT_KEY, type PromptMessageView, type ResultBlock } from '@patchboard/wire';
import { contentProblem } from '../call/content.ts';
import { isRecord } from '@patchboard/wire/json';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import type { PromptResult } from './resource.ts';

/** The contents of one resource, with all defaults resolved. */
export interface Contents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  /** Base64. */
  readonly blob?: string;
}

/** The messages of a prompt, with all defaults resolved. */
export interface PromptMessages {
  readonly description?: string;
  readonly messages: readonly PromptMessageView[];
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns the contents that a pack's `read` returned; null if they are invalid. */
export function contentsOf(
  given: unknown,
  { uri, mimeType }: { readonly uri: string; readonly mimeType?: string | undefined },
): readonly Contents[] | null {
  const all: Contents[] = [];
  for (const one of Array.isArray(given) ? (given as readonly unknown[]) : [given]) {
    const content = typeof one === 'string' ? { text: one } : one;
    if (!isRecord(content)) return null;
    const { text, blob, uri: ownUri = uri, mimeType: ownType = mimeType } = content;
    if (typeof ownUri !== 'string' || (ownType !== undefined && typeof ownType !== 'string')) return null;
    const about = { uri: ownUri, ...(ownType === undefined ? {} : { mimeType: ownType }) };
    if (typeof text === 'string' && blob === undefined) all.push({ ...about, text });
    else if (isBase64(blob) && text === undefined) all.push({ ...about, blob });
    else return null;
  }
  return all;
}

export function contentsBytes(contents: readonly Contents[]): number {
  return contents.reduce((sum, { text, blob }) => sum + utf8Bytes(text ?? '') + (blob ?? '').length, 0);
}

/** Returns the messages that a pack's `get` returned; null if they are invalid. */
export function messagesOf(given: unknown): PromptMessages | null {
  const result = typeof given === 'string' ? { messages: [{ role: 'user', content: given }] } : given;
  if (!isRecord(result) || !Array.isArray(result['messages'])) return null;
  const { description } = result as { description?: unknown };
  if (description !== undefined && typeof description !== 'string') return null;
  const messages: PromptMessageView[] = [];
  for (const message of result['messages'] as readonly unknown[]) {
    if (!isRecord(message)) return null;
    const { role, content } = message as Partial<PromptResult['messages'][number]>;
    const block: unknown = typeof content === 'string' ? { type: 'text', text: content } : content;
    if ((role !== 'user' && role !== 'assistant') || !isBlock(block)) return null;
    messages.push({ role, content: block });
  }
  return { messages, ...(description === undefined ? {} : { description }) };
}

function isBlock(block: unknown): block is ResultBlock {
  return contentProblem({ [CONTENT_KEY]: [block] }) === null;
}

function isBase64(value: unknown): value is string {
  return typeof value === 'string' && value.length % 4 === 0 && BASE64.test(value);
}
