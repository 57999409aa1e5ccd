import { reactive } from 'vue';

/** The result of the login link that opened this page. */
export const login = reactive({
  outcome: 'none' as 'none' | 'done' | 'refused',
  problem: '',
});
