import type { InputIssueView, JsonSchema } from '@patchboard/wire';
import type { JSONPath, Node } from 'jsonc-parser';
import { computed, inject, provide, useId, type ComputedRef, type InjectionKey, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { isRounded, parseArgs, pointerOf, replaceAt, sourceAt, type ParsedArgs } from './args-text.ts';
import { problemWords } from '../failure-texts.ts';
import { validateArgs } from './validate-args.ts';

/** The JSON text of the arguments, with the state that form and editor need. */
export interface ArgsModel {
  /** Prefix of the element ids: a page may have two forms. */
  readonly id: string;
  readonly text: Ref<string>;
  readonly schema: ComputedRef<JsonSchema>;
  readonly parsed: ComputedRef<ParsedArgs>;
  readonly issues: ComputedRef<readonly InputIssueView[]>;
  /** JSON text at a path; undefined if unset. */
  sourceAt(path: JSONPath): string | undefined;
  set(path: JSONPath, source: string): void;
  unset(path: JSONPath): void;
  issuesAt(path: JSONPath): readonly InputIssueView[];
}

const KEY: InjectionKey<ArgsModel> = Symbol('args');

export function createArgsModel(
  text: Ref<string>,
  schema: ComputedRef<JsonSchema>,
  fromServer: Ref<readonly InputIssueView[]>,
): ArgsModel {
  const { t } = useI18n();
  const parsed = computed(() => parseArgs(text.value));
  const words = (issue: InputIssueView): InputIssueView => ({ ...issue, message: problemWords(issue) });
  const issues = computed(() => {
    if (!parsed.value.ok) return [];
    const own = validateArgs(schema.value, parsed.value.plain).map(words);
    const rounded = roundedNumbers(text.value, parsed.value.tree, []).map((path) => ({
      path: pointerOf(path),
      message: t('issues.rounded'),
    }));
    const all = [...own, ...rounded];
    // The server's issues are shown if the console has none of its own.
    return [...all, ...fromServer.value.filter(({ path }) => !all.some((issue) => issue.path === path))];
  });
  const model: ArgsModel = {
    id: useId(),
    text,
    schema,
    parsed,
    issues,
    sourceAt: (path) => (parsed.value.ok ? sourceAt(text.value, parsed.value.tree, path) : undefined),
    set: (path, source) => (text.value = replaceAt(text.value, path, source)),
    unset: (path) => (text.value = replaceAt(text.value, path, undefined)),
    issuesAt: (path) => issues.value.filter((issue) => issue.path === pointerOf(path)),
  };
  provide(KEY, model);
  return model;
}

export function useArgsModel(): ArgsModel {
  const model = inject(KEY);
  if (model === undefined) throw new Error('a field needs a form around it');
  return model;
}

function roundedNumbers(text: string, node: Node, path: JSONPath): JSONPath[] {
  if (node.type === 'number')
    return isRounded(text.slice(node.offset, node.offset + node.length)) ? [path] : [];
  const children = node.children ?? [];
  if (node.type === 'array')
    return children.flatMap((child, index) => roundedNumbers(text, child, [...path, index]));
  return children.flatMap(({ children: pair }) => {
    const [name, value] = pair ?? [];
    return name === undefined || value === undefined
      ? []
      : roundedNumbers(text, value, [...path, String(name.value)]);
  });
}
