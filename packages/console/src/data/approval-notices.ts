import { onScopeDispose, reactive } from 'vue';
import { useI18n } from 'vue-i18n';
import { useRouter } from 'vue-router';
import { onEvent } from './live.ts';

const KEY = 'patchboard.notices';

export const canNotify: boolean = 'Notification' in globalThis;

/** Browser notifications for waiting calls; off by default. */
export const notices = reactive({
  isOn: canNotify && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on',
  isBlocked: canNotify && Notification.permission === 'denied',
});

export async function turnNotices(isOn: boolean): Promise<void> {
  const permission = isOn ? await Notification.requestPermission() : Notification.permission;
  notices.isBlocked = permission === 'denied';
  notices.isOn = isOn && permission === 'granted';
  localStorage.setItem(KEY, notices.isOn ? 'on' : 'off');
}

/** Returns null in browsers that show notifications of service workers only, as Chrome does on Android: they throw. */
function aNotice(title: string, options: NotificationOptions): Notification | null {
  try {
    return new Notification(title, options);
  } catch {
    return null;
  }
}

/** Active while the console is open, on every page. */
export function useApprovalNotices(): void {
  const { t } = useI18n();
  const router = useRouter();
  const stop = onEvent(({ type, data }) => {
    if (type !== 'permission_required' || !notices.isOn) return;
    const { tool_call_id: id, tool_name: tool } = data as { tool_call_id: string; tool_name?: string };
    aNotice(t('notices.title'), { body: tool ?? id, tag: id })?.addEventListener('click', () => {
      window.focus();
      router.push({ name: 'approvals', query: { call: id } }).catch(() => undefined);
    });
  });
  onScopeDispose(stop);
}
