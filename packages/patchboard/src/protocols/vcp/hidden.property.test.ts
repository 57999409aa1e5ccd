import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReply } from '../reply-reader.ts';
import { vcpProtocol } from './vcp-protocol.ts';

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';
const EVIL = `${START}tool_name:「始」evil「末」${END}`;

/** Texts that damage a request, or look like code or a thought. */
const PIECES = [
  START,
  END,
  `${START}tool_name:「始」good「末」${END}`,
  'tool_name:「始」t「末」',
  'path:「始」',
  'text:「始ESCAPE」',
  'text:{始escape}',
  '「始」',
  '「末」',
  '「末ESCAPE」',
  'oops',
  '```',
  '```\n',
  '\n```js\n',
  '````',
  '``',
  '`',
  '~~~',
  '\n~~~\n',
  '\n> ~~~~\n',
  '~',
  '<think>',
  '</think>',
  '<Thinking a="b">',
  '</THINKING>',
  '<thin',
  '- ',
  '\n',
  '\r\n',
  ' ',
] as const;

const wild = fc
  .array(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: fc.string() }),
    { maxLength: 16 },
  )
  .map((pieces) => pieces.join(''));

function namesRunBy(text: string): string[] {
  return parseReply(vcpProtocol, text).requests.map(({ toolName }) => toolName);
}

describe('whatever stands before it, a request is not run', () => {
  // Without the end of a value: the fence before it would be part of a value that is closed here.
  const harmless = wild.filter((text) => !/[`~]{3}|<\/|末/.test(text));

  // A line with text after the marks opens a fence and does not close one.
  it.each(['\n```text\n', '\n~~~ text\n', '\n> - ~~~~ ` text\n', '\n``````` text\n'])(
    'in a fence: %j',
    (opening) => {
      fc.assert(
        fc.property(wild, harmless, (before, inside) => {
          expect(namesRunBy(`${before}${opening}${inside}\n${EVIL}`)).not.toContain('evil');
        }),
        { numRuns: 500 },
      );
    },
  );

  it.each([
    ['<think>', '</think>'],
    ['<THINK x="1">', '</think>'],
    ['<think><think></think>', '</think>'],
    ['<thinking>', '</thinking>'],
  ])('in a thought: %s', (opening, closing) => {
    fc.assert(
      fc.property(wild, harmless, (before, inside) => {
        const text = `${before}\n${opening}${inside}${EVIL}${closing}`;
        expect(namesRunBy(text)).not.toContain('evil');
      }),
      { numRuns: 500 },
    );
  });

  it.each(['`', '``'])('in inline code: %s', (ticks) => {
    fc.assert(
      fc.property(wild, (before) => {
        expect(namesRunBy(`${before}\n${ticks}${EVIL}${ticks}`)).not.toContain('evil');
      }),
      { numRuns: 500 },
    );
  });

  it('where a second parser, without knowledge of requests, finds code or a thought', () => {
    fc.assert(
      fc.property(wild, wild, (before, after) => {
        const text = `${before}${after}`;
        const { requests, errors } = parseReply(vcpProtocol, text);
        // A whole request hides nothing, whether or not it is run; of the others a reader of text sees every fence.
        fc.pre(
          errors.every(
            ({ code }) => !['tool_name_missing', 'key_duplicate', 'request_nested'].includes(code),
          ),
        );
        let seen = text;
        for (const { offset, rawBlock } of requests) {
          expect({ text, offset, isHidden: isHidden(seen, offset) }).toEqual({
            text,
            offset,
            isHidden: false,
          });
          const blank = rawBlock.replace(/[^\n]/g, 'x');
          seen = seen.slice(0, offset) + blank + seen.slice(offset + rawBlock.length);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

/** Whether `offset` is in code or in a thought: a stateless parser without knowledge of requests. */
function isHidden(text: string, offset: number): boolean {
  const open: Record<string, number> = { think: 0, thinking: 0 };
  const isThinking = (): boolean => Object.values(open).some((count) => count > 0);
  let at = 0;
  while (at < offset) {
    const rest = text.slice(at);
    const [tag, slash, name = ''] = /^<(\/?)(think(?:ing)?)(?:[\s/][^<>]{0,200})?>/i.exec(rest) ?? [];
    const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
    const ticks = /^`+/.exec(rest)?.[0] ?? '';
    const tildes = /^~{3,}/.exec(rest)?.[0] ?? '';
    if (tag !== undefined && (isThinking() || slash === '')) {
      const count = open[name.toLowerCase()] ?? 0;
      open[name.toLowerCase()] =
        slash === '/' ? Math.max(0, count - 1) : count + (tag.endsWith('/>') ? 0 : 1);
      at += tag.length;
    } else if (isThinking() || ticks + tildes === '') {
      at += 1;
    } else if (tildes !== '') {
      const isFence = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*$/.test(line) && text[at - 1] !== '~';
      at += isFence ? lengthOfFence(rest, '~', tildes.length) : tildes.length;
    } else {
      const inLine = /^[^\n]*/.exec(rest.slice(ticks.length))?.[0] ?? '';
      const partner = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(inLine);
      if (partner !== null) at += partner.index + 2 * ticks.length;
      else at += ticks.length < 3 ? ticks.length : lengthOfFence(rest, '`', ticks.length);
    }
  }
  return isThinking() || at > offset;
}

function lengthOfFence(rest: string, mark: string, length: number): number {
  const closing = new RegExp(`\n[ \\t>]*${mark}{${length},}[ \\t\r]*(?=\n)`).exec(rest);
  return closing === null ? Infinity : closing.index + closing[0].length;
}
