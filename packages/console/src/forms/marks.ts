import type { InputIssueView } from '@patchboard/wire';
import type { EditorMark } from '../components/json/code-editor.ts';
import { jsonWords } from '../failure-texts.ts';
import { nodeAt, parseArgs, pathOf } from './args-text.ts';

/**
 * The range of an issue in the text: its value, or the nearest existing parent. Invalid JSON is reported as
 * the only issue.
 */
export function marksOf(text: string, issues: readonly InputIssueView[]): readonly EditorMark[] {
  const parsed = parseArgs(text);
  if (!parsed.ok) {
    const { from, to } = parsed.problem;
    return [{ from, to, message: jsonWords(parsed.problem) }];
  }
  return issues.map(({ path, message }) => {
    const place = pathOf(parsed.tree, path);
    let node = nodeAt(parsed.tree, place);
    while (node === undefined && place.length > 0) {
      place.pop();
      node = nodeAt(parsed.tree, place);
    }
    const from = node?.offset ?? 0;
    // Mark only the start of an object: a whole object in red would hide the issue inside it.
    const length = node === undefined ? 1 : Math.min(node.length, node.type === 'object' ? 1 : 200);
    return { from, to: from + length, message };
  });
}
