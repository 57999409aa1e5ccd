import { ref, type Ref } from 'vue';

/** The current time, updated once a second and shared by all components. */
export const now: Ref<number> = ref(Date.now());

setInterval(() => (now.value = Date.now()), 1000);
