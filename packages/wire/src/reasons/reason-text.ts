import { ENGLISH, type ReasonCode, type ReasonParams, type ReasonSentences } from './english.ts';
import type { ReasonParam, ReasonView } from './reason.ts';

/** A reason of one of our own codes, with the parameters of that code. */
export type Reason<Code extends ReasonCode = ReasonCode> = {
  readonly [One in Code]: { readonly code: One; readonly params: ReasonParams[One] };
}[Code];

type Given<Params> = keyof Params extends never ? readonly [] : readonly [params: Params];

export function reason<Code extends ReasonCode>(
  code: Code,
  ...[params]: Given<ReasonParams[Code]>
): Reason<Code> {
  return { code, params: params ?? {} } as unknown as Reason<Code>;
}

/** The English sentence; empty for a code that is unknown here. */
export function reasonText(given: ReasonView): string {
  return reasonsText([given]);
}

/** The English sentences of several reasons, as one text. */
export function reasonsText(given: readonly ReasonView[]): string {
  return textIn(ENGLISH, '; ', given) ?? '';
}

/** The reasons in another language; null if the table has no sentence for one of them. */
export function textIn(
  sentences: ReasonSentences,
  separator: string,
  reasons: readonly ReasonView[],
): string | null {
  const texts: string[] = [];
  for (const { code, params } of reasons) {
    if (!Object.hasOwn(sentences, code)) return null;
    const shown = Object.values(params).some(isNested) ? flat(sentences, separator, params) : params;
    if (shown === null) return null;
    const sentence = sentences[code as ReasonCode] as (params: ReasonView['params']) => string;
    texts.push(sentence(shown));
  }
  return texts.join(separator);
}

/** The parameters with the sentences of nested reasons; null if one of them has none. */
function flat(
  sentences: ReasonSentences,
  separator: string,
  params: ReasonView['params'],
): ReasonView['params'] | null {
  const shown: Record<string, ReasonParam> = {};
  for (const [name, value] of Object.entries(params)) {
    const text = isNested(value) ? textIn(sentences, separator, value) : value;
    if (text === null) return null;
    shown[name] = text;
  }
  return shown;
}

function isNested(value: ReasonParam): value is readonly ReasonView[] {
  return typeof value === 'object';
}

/** Whether a value from outside has the form of a reason, of whatever code. */
export function isReasonView(value: unknown): value is ReasonView {
  if (typeof value !== 'object' || value === null) return false;
  const { code, params } = value as { readonly code?: unknown; readonly params?: unknown };
  return typeof code === 'string' && isParams(params);
}

/** The same for a code that this version has. */
export function isReason(value: unknown): value is Reason {
  return isReasonView(value) && Object.hasOwn(ENGLISH, value.code);
}

function isParams(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(
    (param: unknown) =>
      typeof param === 'string' ||
      typeof param === 'number' ||
      (Array.isArray(param) && param.every(isReasonView)),
  );
}
