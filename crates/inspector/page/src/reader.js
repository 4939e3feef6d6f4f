// The position that the class is read from, and that of [CLS], which need not be the same.

/** @typedef {import("./types").Facts} Facts */

/** The position of [CLS]; null if samples have none. @param {Facts} facts */
export const clsOf = ({ cls, cls_token }) => cls_token === undefined ? cls : cls_token;

/** The position that the class is read from, in words. @param {Facts} facts */
export const readerOf = (facts) => clsOf(facts) === facts.cls ? "[CLS]" : `position ${facts.cls}`;

/** The same, with the position of [CLS]. @param {Facts} facts */
export const placeOf = (facts) => clsOf(facts) === facts.cls ? `[CLS] (position ${facts.cls})` : readerOf(facts);
