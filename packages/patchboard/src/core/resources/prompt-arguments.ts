import { reason, reasonsText, type InputIssueView } from '@patchboard/wire';
import { failure, type Failure } from '../failures.ts';
import { pointerTo } from '@patchboard/wire/json';
import type { Prompt } from './resource.ts';

/** Returns what is wrong with the arguments of a prompt, or null. */
export function argumentIssues(prompt: Prompt, args: Readonly<Record<string, string>>): Failure | null {
  const known = prompt.arguments ?? [];
  for (const name of Object.keys(args))
    if (!known.some((argument) => argument.name === name))
      return unknownArgument(
        name,
        known.map((argument) => argument.name),
      );
  const missing = known.find(({ name, required }) => required === true && !Object.hasOwn(args, name));
  return missing === undefined
    ? null
    : argumentFailure(missing.name, reason('prompt_argument_missing', { name: missing.name }));
}

export function unknownArgument(name: string, known: readonly string[]): Failure {
  return argumentFailure(name, reason('prompt_argument_unknown', { name, known: known.join(', ') }));
}

/** The failure for one argument of a prompt. Packs throw it in a `ToolFailure`. */
export function argumentFailure(name: string, why: ReturnType<typeof reason>): Failure {
  const issue: InputIssueView = {
    path: pointerTo('/arguments', name),
    message: reasonsText([why]),
    reasons: [why],
  };
  return failure('input_invalid', why, { issues: [issue] });
}
