import { ref, type Ref } from 'vue';

/** The tool whose form in the tester gets the focus once it is shown; empty: none. */
export const wantedForm: Ref<string> = ref('');

/** The first control of a form, as far as there is one; otherwise the button that runs the tool. */
const CONTROLS = '[data-field] input, [data-field] textarea, .cm-content, [data-run]';

/** Returns false if the form has no control yet. */
export function focusForm(around: HTMLElement | null): boolean {
  const shown = [...(around?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])].find(
    (control) => control.offsetParent !== null && !control.matches(':disabled'),
  );
  shown?.focus();
  return shown !== undefined;
}
