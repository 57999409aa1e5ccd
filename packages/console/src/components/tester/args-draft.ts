import { ref, watch, type Ref } from 'vue';
import { useUrlState } from '../../url-state.ts';

/** Upper bound for arguments in the URL, so that the URL can be shared. */
const MAX_URL_CHARS = 1500;
const WRITE_MS = 400;

/** The text of the arguments: from the URL, else the last draft for this tool; saved while the user types. */
export function useArgsText(tool: Ref<string>): Ref<string> {
  const inUrl = useUrlState('args');
  const drafts = new Map<string, string>();
  const text = ref(inUrl.value === '' ? '{}' : inUrl.value);
  let timer: ReturnType<typeof setTimeout> | undefined;

  watch(tool, (now, before) => {
    drafts.set(before, text.value);
    text.value = inUrl.value === '' ? (drafts.get(now) ?? '{}') : inUrl.value;
  });
  watch(inUrl, (now) => {
    if (now !== '' && now !== text.value) text.value = now;
  });
  watch(text, (now) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      inUrl.value = now === '{}' || now.length > MAX_URL_CHARS ? '' : now;
    }, WRITE_MS);
  });
  return text;
}
