import type { InputIssueView } from '@patchboard/wire';
import { pointerTo } from '@patchboard/wire/json';

/** Returns the name of the required member that an issue reports as missing; undefined for other issues. */
export function missingMemberOf({ reasons }: InputIssueView): string | undefined {
  const [why] = reasons ?? [];
  const name = why?.code === 'issue_required' ? why.params['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Whether an issue reports that the member at this JSON pointer is missing. */
export function isMissingAt(issue: InputIssueView, pointer: string): boolean {
  const name = missingMemberOf(issue);
  return name !== undefined && pointerTo(issue.path, name) === pointer;
}
