import type { InputIssueView } from '../../views.ts';
import { reason, type Reason, reasonText } from '../../reasons/reason-text.ts';

export const MAX_ISSUES = 20;
const MAX_MESSAGE = 300;
const MAX_PATH = 500;

/** Cuts path and message: they contain keys and values of any length from the caller. */
export function shortIssue(path: string, why: Reason): InputIssueView {
  const message = reasonText(why);
  const place = path.slice(0, MAX_PATH);
  return message.length > MAX_MESSAGE
    ? { path: place, message: message.slice(0, MAX_MESSAGE) }
    : { path: place, message, reasons: [why] };
}

/** A member that the schema does not allow. */
export function notAllowed(name: unknown): Reason {
  return reason('issue_additional_property', { name: quoted(name) });
}

/** Returns the name of the member that the schema does not allow; undefined for any other issue. */
export function extraMemberOf({ reasons: [why] = [] }: InputIssueView): string | undefined {
  const name = why?.code === 'issue_additional_property' ? why.params['name'] : undefined;
  return typeof name === 'string' ? String(JSON.parse(name)) : undefined;
}

export function ofType(types: readonly string[]): Reason {
  return reason('issue_type', { types: types.join('|') });
}

export function constant(value: unknown): Reason {
  const shown = listed([value]);
  return shown === null ? reason('issue_const_long') : reason('issue_const', { value: shown });
}

export function oneOf(values: readonly unknown[]): Reason {
  const shown = listed(values);
  return shown === null ? reason('issue_enum_long') : reason('issue_enum', { values: shown });
}

function quoted(name: unknown): string {
  return JSON.stringify(typeof name === 'string' && name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/** Lists as many of the values as fit into a message. */
function listed(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) {
    const next = JSON.stringify(value);
    if (text.length + next.length > MAX_MESSAGE - 40)
      return text === '' ? 'the value in the schema' : `${text}, …`;
    text += text === '' ? next : `, ${next}`;
  }
  return text;
}
