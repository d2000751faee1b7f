/* Parts of a turn, `{role, text, images}`, that several formats share. */

/** Turns as messages: the content is a text, or parts if there are images. */
export const messages = (turns, textPart, imagePart) =>
	turns.map(({ role, text, images }) => {
		const parts = [...(text ? [textPart(text)] : []), ...images.map(imagePart)];
		return { role, content: images.length ? parts : text };
	});

/** The media type and the base64 of a data URL. */
export const bytesOf = (image) => /^data:([^;]+);base64,(.*)$/.exec(image).slice(1);
