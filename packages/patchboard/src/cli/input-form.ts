import { DECLINE_INPUT, INPUT_RESPONDED, PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { InputIssueView, InputRequestView } from '@patchboard/wire';
import { listed, typedValue } from './arguments.ts';
import type { CliContext } from './context.ts';
import { timeLeft } from './duration.ts';
import { UsageError } from './exit-codes.ts';
import { inputFields, type InputField } from './input-fields.ts';
import { cell } from './output.ts';
import { verbatimJsonLine } from './terminal-text.ts';

/** A person at the terminal, who can respond until `signal` aborts. */
export interface FormContext {
  readonly output: Pick<CliContext['output'], 'note'>;
  readonly ask: (question: string, signal: AbortSignal) => Promise<string | null>;
  readonly signal: AbortSignal;
}

export function formOf(context: CliContext): Omit<FormContext, 'signal'> {
  return { output: context.output, ask: (question, signal) => context.ask(question, signal) };
}

/** The person declined, or the terminal was closed. */
class Declined extends Error {}

/**
 * Asks for the content of an input request, sends it, and asks again for the fields that the server refuses. Returns what an
 * `onInputRequest` returns.
 */
export async function respondFromForm(
  form: FormContext,
  client: PatchboardClient,
  toolCallId: string,
  request: InputRequestView,
): Promise<typeof DECLINE_INPUT | typeof INPUT_RESPONDED> {
  const { output, signal } = form;
  const { id } = request;
  try {
    showRequest(form, request);
    if (isForProgram(request)) {
      await line(form, 'Press Enter to decline, or Ctrl-C to leave it open: ');
      throw new Declined();
    }
    if (request.url !== undefined) {
      if (isDecline(await line(form, 'Press Enter when you have visited it: '))) throw new Declined();
      await client.respondInput(toolCallId, { id, action: 'accept' }, { signal });
    } else
      await sendContent(form, request, (content) =>
        client.respondInput(toolCallId, { id, content }, { signal }),
      );
    return INPUT_RESPONDED;
  } catch (error) {
    if (!(error instanceof Declined)) throw error;
    // After an abort nothing is sent.
    if (!signal.aborted) output.note('declined');
    return DECLINE_INPUT;
  }
}

/** Whether the request is for a program with a language model or roots of its own, and not for a person. */
export function isForProgram({ kind }: InputRequestView): boolean {
  return kind !== undefined && kind !== 'form' && kind !== 'url';
}

async function sendContent(
  form: FormContext,
  { schema = true }: InputRequestView,
  send: (content: unknown) => Promise<unknown>,
): Promise<void> {
  const fields = inputFields(schema);
  const values = new Map<string | null, unknown>();
  let open: readonly InputField[] = fields;
  for (;;) {
    for (const field of open) {
      const value = await askField(form, field);
      if (value === undefined) values.delete(field.name);
      else values.set(field.name, value);
    }
    const content = fields[0]?.name === null ? values.get(null) : Object.fromEntries(values);
    try {
      await send(content);
      return;
    } catch (error) {
      if (!(error instanceof PatchboardError) || error.code !== 'input_invalid') throw error;
      for (const { path, message } of error.issues)
        form.output.note(`  ${path === '' ? '' : `${cell(path)}: `}${cell(message)}`);
      const wrong = fields.filter((field) => error.issues.some((issue) => isOf(field, issue)));
      open = wrong.length === 0 ? fields : wrong;
    }
  }
}

function isOf({ name }: InputField, { path }: InputIssueView): boolean {
  const first = path.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  return name !== null && first === name;
}

function showRequest({ output }: FormContext, request: InputRequestView): void {
  const { message, kind, url, expires_at: expiresAt } = request;
  output.note(`\nThe tool asks: ${message}`);
  if (url !== undefined) output.note(`  ${cell(url)}`);
  const left = timeLeft(Date.parse(expiresAt) - Date.now());
  if (isForProgram(request)) {
    output.note(
      `  (a request of kind ${cell(String(kind))}, to which a terminal cannot respond; expires in ${left})`,
    );
    return;
  }
  output.note(`  (d or Ctrl-D declines, in a text field Ctrl-D only; expires in ${left})`);
}

/** Returns undefined for an optional field that was left out. */
async function askField(form: FormContext, field: InputField): Promise<unknown> {
  const { output } = form;
  const { choices } = field;
  if (field.description !== '') output.note(`${cell(field.title)}: ${cell(field.description)}`);
  choices?.forEach(({ label }, at) => output.note(`  ${at + 1}  ${cell(label)}`));
  for (;;) {
    const text = await line(form, `${cell(field.title)}${hintOf(field)}: `);
    if (text === '' && field.hasDefault) return field.default;
    if (text === '' && !field.isRequired) return undefined;
    if (isDecline(text) && !mayBeText(field)) throw new Declined();
    try {
      const value = text === '' ? undefined : valueOf(field, text);
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      output.note(`  ${error.message}`);
      continue;
    }
    output.note(`  ${text === '' ? 'a value is required' : `not ${expected(field)}`}`);
  }
}

function valueOf({ choices, types }: InputField, text: string): unknown {
  if (choices !== null)
    return choices[Number(text) - 1]?.value ?? choices.find(({ label }) => label === text)?.value;
  if (isYesNo(types)) {
    if (/^y(es)?$|^true$/i.test(text)) return true;
    return /^no?$|^false$/i.test(text) ? false : undefined;
  }
  // The only way to enter an empty string.
  if (text === '""' && types.has('string')) return '';
  return typedValue(text, types);
}

function isYesNo(types: InputField['types']): boolean {
  return types.size === 1 && types.has('boolean');
}

function mayBeText({ choices, types }: InputField): boolean {
  if (choices !== null) return choices.some(({ label }) => label === 'd');
  return types.size === 0 || types.has('string');
}

function expected({ choices, types }: InputField): string {
  if (choices !== null) return `a number from 1 to ${choices.length}`;
  return isYesNo(types) ? 'y or n' : listed(types);
}

function hintOf(field: InputField): string {
  const { choices, types } = field;
  const isJson = types.has('array') || types.has('object');
  const kind =
    choices !== null
      ? `1-${choices.length}`
      : isYesNo(types)
        ? 'y/n'
        : `${[...types].join(' or ') || 'any value'}${isJson ? ' as JSON' : ''}`;
  const rest = field.hasDefault
    ? `default ${defaultOf(field)}`
    : field.isRequired
      ? 'required'
      : 'optional, Enter leaves it out';
  return ` (${kind}; ${rest})`;
}

function defaultOf({ choices, types, default: value }: InputField): string {
  const at = choices?.findIndex((one) => one.value === value) ?? -1;
  if (at >= 0) return String(at + 1);
  return isYesNo(types) ? (value === true ? 'y' : 'n') : verbatimJsonLine(value);
}

/** Reads a line; the end of the input declines. */
async function line({ ask, signal }: FormContext, question: string): Promise<string> {
  const text = await ask(question, signal);
  if (text === null || signal.aborted) throw new Declined();
  return text.trim();
}

function isDecline(text: string): boolean {
  return text.toLowerCase() === 'd';
}
