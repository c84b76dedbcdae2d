const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * How many names the outermost objects of a JSON text have, counting repeated ones, down to a depth. JSON.parse keeps
 * the last of equal names and says nothing. The text has been parsed before, so it is known to be JSON.
 */
export function countKeys(text: string, depth: number): number {
  let level = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
      if (level <= depth && text.charCodeAt(afterSpace(text, i + 1)) === COLON) count++;
    } else if (code === 0x7b || code === 0x5b) level++;
    else if (code === 0x7d || code === 0x5d) level--;
  }
  return count;
}

/** The place of the quote that closes the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (let code = text.charCodeAt(i); code !== QUOTE; code = text.charCodeAt(i)) i += code === BACKSLASH ? 2 : 1;
  return i;
}

function afterSpace(text: string, start: number): number {
  let i = start;
  while (text.charCodeAt(i) <= 0x20) i++;
  return i;
}
