"""What stands around a question and its options, by language."""

ASKED_IN = {
    "en": {
        "question": "Question",
        "answer": "Answer",
        "letters": "Answer with one letter, and nothing else.",
        "digits": "Answer with one digit, and nothing else.",
        "words": "Answer with one of these, and nothing else.",
    },
    "de": {
        "question": "Frage",
        "answer": "Antwort",
        "letters": "Antworten Sie mit einem Buchstaben und sonst nichts.",
        "digits": "Antworten Sie mit einer Ziffer und sonst nichts.",
        "words": "Antworten Sie mit einer dieser Möglichkeiten und sonst nichts.",
    },
    "es": {
        "question": "Pregunta",
        "answer": "Respuesta",
        "letters": "Responda con una sola letra y nada más.",
        "digits": "Responda con una sola cifra y nada más.",
        "words": "Responda con una de estas opciones y nada más.",
    },
    "ca": {
        "question": "Pregunta",
        "answer": "Resposta",
        "letters": "Respongui amb una sola lletra i res més.",
        "digits": "Respongui amb una sola xifra i res més.",
        "words": "Respongui amb una d'aquestes opcions i res més.",
    },
    "ko": {
        "question": "질문",
        "answer": "답",
        "letters": "다른 말 없이 알파벳 한 글자로만 답하십시오.",
        "digits": "다른 말 없이 숫자 하나로만 답하십시오.",
        "words": "다른 말 없이 위의 보기 중 하나로만 답하십시오.",
    },
    "nl": {
        "question": "Vraag",
        "answer": "Antwoord",
        "letters": "Antwoord alstublieft met één letter en niets anders.",
        "digits": "Antwoord alstublieft met één cijfer en niets anders.",
        "words": "Antwoord alstublieft met één van deze mogelijkheden en niets anders.",
    },
    "tr": {
        "question": "Soru",
        "answer": "Yanıt",
        "letters": "Lütfen yalnızca tek bir harfle yanıt veriniz.",
        "digits": "Lütfen yalnızca tek bir rakamla yanıt veriniz.",
        "words": "Lütfen yalnızca bu seçeneklerden biriyle yanıt veriniz.",
    },
}
