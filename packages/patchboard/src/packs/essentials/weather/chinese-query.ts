import { stripAffixes } from './strip-affixes.ts';
import type { Found } from './strip-affixes.ts';

const OTHER_TIME =
  /明[天早晚日]|后天|昨[天晚日]|前天|[下上]个?(?:周|星期|礼拜|月)|周末|未来|(?:周|星期|礼拜)[一二三四五六日天]/u;

const NOW = '现在|目前|当前|此刻|今天|今日|今早|今晚|今夜|今儿|实时|最新';
const HERE = '我们?这[里儿边]|我们?所在地?|这[里儿边]|那[里儿边]|本地|当地|外面|室外|户外';
const WEATHER =
  '天气预报|天气情况|天气状况|天气信息|天气|气温|温度|体感|湿度|风速|风力|气候|预报|weather|temperature';
const GAP = '[\\s,，.。;；:：!！?？、~\\-"\'“”‘’「」《》()]+';

/** In Chinese the place stands between the words of the question, so stripping both ends leaves the place. */
const BEFORE = new RegExp(
  `^(?:${GAP}|您好|你好|请问|请|麻烦|帮我|帮忙|给我|告诉我|跟我说|我想要?|想要?|知道|了解|能不能|能否|可以|可否|查询|查查|查看|查一?下|搜索|搜一?下|看看|看一?下|说说|一下|关于|我们?[在住]|在|${NOW}|${HERE}|${WEATHER}|的)`,
  'iu',
);
const AFTER = new RegExp(
  `(?:${GAP}|怎么样|怎样|咋样|如何|什么样|是什么|是多少|有多少|是几|多少|什么|几|度|摄氏度|华氏度|好不好|好吗|冷不冷|热不热|[很有多这么那]*[冷热晴暖凉](?:吗|不)?|(?:会不会|有没有|是不是|会|有|在|正在|要|需要|用|带|没)?(?:下雨|下雪|刮风|起雾|晴天|阴天|雨|雪|伞)(?:了)?|情况|状况|信息|预报|${NOW}|${HERE}|${WEATHER}|[的呢吗啊呀吧嘛么了是])$`,
  'iu',
);

export function placeInChinese(text: string): Found {
  const other = OTHER_TIME.exec(text);
  if (other !== null) return { words: other[0] };
  return { place: stripAffixes(text, BEFORE, AFTER) };
}
