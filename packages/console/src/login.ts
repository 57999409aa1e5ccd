import { reactive } from 'vue';

/** What became of the login link this page was opened with. */
export const login = reactive({
  outcome: 'none' as 'none' | 'done' | 'refused',
  problem: '',
});
