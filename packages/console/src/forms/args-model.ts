import type { InputIssueView, JsonSchema } from '@patchboard/wire';
import type { JSONPath, Node } from 'jsonc-parser';
import { computed, inject, provide, ref, useId, type ComputedRef, type InjectionKey, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { isRounded, parseArgs, pointerOf, replaceAt, sourceAt, type ParsedArgs } from './args-text.ts';
import { problemWords } from '../failure-texts.ts';
import { visibleText } from '../visible-text.ts';
import { isMissingAt, missingMemberOf } from './missing-member.ts';
import { validateArgs } from './validate-args.ts';

/** The JSON text of the arguments, with the state that form and editor need. */
export interface ArgsModel {
  /** Prefix of the element ids: a page may have two forms. */
  readonly id: string;
  readonly text: Ref<string>;
  readonly schema: ComputedRef<JsonSchema>;
  readonly parsed: ComputedRef<ParsedArgs>;
  /** What is shown: a missing member only once its field was left, or `showAll` was called. Messages are in the user's language. */
  readonly issues: ComputedRef<readonly InputIssueView[]>;
  /** JSON text at a path; undefined if unset. */
  sourceAt(path: JSONPath): string | undefined;
  set(path: JSONPath, source: string): void;
  unset(path: JSONPath): void;
  /** The issues that the field at a path shows. `fields`: names of the members that have fields, which show that they are missing. */
  issuesAt(path: JSONPath, fields: readonly string[]): readonly InputIssueView[];
  /** The user left the field at a path. */
  leave(path: JSONPath): void;
  /** The user left the text, or tried to send it. */
  showAll(): void;
  /** Another form begins. */
  reset(): void;
}

const KEY: InjectionKey<ArgsModel> = Symbol('args');

export function createArgsModel(
  text: Ref<string>,
  schema: ComputedRef<JsonSchema>,
  fromServer: Ref<readonly InputIssueView[]>,
): ArgsModel {
  const { t } = useI18n();
  const parsed = computed(() => parseArgs(text.value));
  const left = ref<ReadonlySet<string>>(new Set());
  const isAllShown = ref(false);
  const words = (issue: InputIssueView): InputIssueView => {
    const name = missingMemberOf(issue);
    const message =
      name === undefined ? problemWords(issue) : t('issues.missing', { name: visibleText(name) });
    return { ...issue, message };
  };
  const isShown = (issue: InputIssueView): boolean => {
    if (isAllShown.value) return true;
    if (missingMemberOf(issue) !== undefined) return [...left.value].some((path) => isMissingAt(issue, path));
    // Other issues of an empty form, such as too few members, are about what is missing too.
    return issue.path !== '' || left.value.size > 0 || !isEmptyObject(parsed.value);
  };
  const found = computed(() => {
    if (!parsed.value.ok) return [];
    const own = validateArgs(schema.value, parsed.value.plain).map(words);
    const rounded = roundedNumbers(text.value, parsed.value.tree, []).map((path) => ({
      path: pointerOf(path),
      message: t('issues.rounded'),
    }));
    const all = [...own, ...rounded];
    // The server's issues are shown if the console has none of its own.
    const others = fromServer.value.filter(({ path }) => !all.some((issue) => issue.path === path));
    return [...all, ...others.map(words)];
  });
  const issues = computed(() => found.value.filter(isShown));
  const model: ArgsModel = {
    id: useId(),
    text,
    schema,
    parsed,
    issues,
    sourceAt: (path) => (parsed.value.ok ? sourceAt(text.value, parsed.value.tree, path) : undefined),
    set: (path, source) => (text.value = replaceAt(text.value, path, source)),
    unset: (path) => (text.value = replaceAt(text.value, path, undefined)),
    issuesAt(path, fields) {
      const pointer = pointerOf(path);
      const missing = issues.value
        .filter((issue) => isMissingAt(issue, pointer))
        .map((issue) => ({ ...issue, message: t('form.required') }));
      const own = issues.value.filter(
        (issue) => issue.path === pointer && !fields.includes(missingMemberOf(issue) ?? ''),
      );
      return [...missing.slice(0, 1), ...own];
    },
    leave: (path) => (left.value = new Set([...left.value, pointerOf(path)])),
    showAll: () => (isAllShown.value = true),
    reset() {
      left.value = new Set();
      isAllShown.value = false;
    },
  };
  provide(KEY, model);
  return model;
}

export function useArgsModel(): ArgsModel {
  const model = inject(KEY);
  if (model === undefined) throw new Error('a field needs a form around it');
  return model;
}

function isEmptyObject(parsed: ParsedArgs): boolean {
  return parsed.ok && parsed.tree.type === 'object' && (parsed.tree.children ?? []).length === 0;
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
