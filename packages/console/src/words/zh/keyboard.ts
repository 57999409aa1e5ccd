import type { keyboardWords as english } from '../en/keyboard.ts';
import type { WordsOf } from '../words-of.ts';

export const keyboardWords: WordsOf<typeof english> = {
  keyboard: {
    title: '快捷键',
    everywhere: '所有页面',
    ofPage: '本页面：{page}',
    does: {
      help: '显示快捷键',
      search: '转到页面的搜索框；没有时查找任何内容',
      back: '关闭已打开的内容；从详情返回打开它的页面或列表',
      palette: '查找页面、工具、调用、run、链路或失败代码',
      move: '在列表中移动',
      open: '打开此行',
      select: '选择此行',
      fold: '折叠和展开子 agent 的调用',
      decide: '批准、修改、拒绝',
      run: '运行沙盒',
      cancel: '取消运行',
    },
  },
};
