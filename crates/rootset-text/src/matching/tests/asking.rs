//! Requests as people write them: at length, by other names, and by what something has to do with a name.

use super::judged;
use super::left::left;
use crate::matching::Verdict;

#[test]
fn a_request_may_be_as_long_and_polite_as_it_likes() {
    for request in [
        "could you please make sure that you no longer keep anything regarding Gwendal",
        "It would be really great if nothing about Gwendal were stored anywhere in your memory, thank you in advance",
        "I was wondering whether you might be able to remove all of the notes that mention Gwendal",
        "If it's not too much trouble, please wipe whatever you have saved concerning Gwendal",
        "I'd appreciate it if you deleted everything you've learned about Gwendal so far",
        "as we discussed yesterday, everything to do with Gwendal should be removed from your notes",
        "please ensure that no information relating to Gwendal remains in the system",
        "Gwendal asked to be forgotten, so please erase all records of Gwendal",
        "there is no need to keep notes on Gwendal",
        "I want Gwendal gone",
        "nothing about Gwendal should be kept",
        "please make it so that you don't know anything about Gwendal",
        "Could you go ahead and make sure all mentions of Gwendal are gone?",
        "Is it possible to delete the memories where Gwendal comes up?",
        "delete Gwendal and her handle",
    ] {
        assert_eq!(left(request, &["Gwendal borrowed the ladder in July."]), "", "{request}");
        let other = "Our plumber is booked until May.";
        assert_eq!(left(request, &[other]), other, "{request}");
    }
    let texts = "My gym membership costs 34 pounds.";
    assert_eq!(
        left("could you please make sure that you no longer keep anything regarding my gym membership", &[texts]),
        ""
    );
    let both = "forget the gym locker code and the bike lock combination";
    assert_eq!(left(both, &["The gym locker code is 3382."]), "");
    assert_eq!(left(both, &["The front door code is 1101."]), "The front door code is 1101.");
}

#[test]
fn what_is_asked_for_at_length_still_narrows_down() {
    let request = "could you please make sure that you no longer keep the phone number of Gwendal";
    assert_eq!(left(request, &["Gwendal's phone number is 555-0101."]), "");
    let other = "Gwendal likes tea.";
    assert_eq!(left(request, &[other]), other);
    // In a short request every word counts.
    for request in ["forget the idea about Gwendal", "forget what Gwendal asked for", "forget the Gwendal history"] {
        assert_eq!(left(request, &[other]), other, "{request}");
    }
    let meeting = "The meeting is in the blue room.";
    for request in ["forget what I said in the meeting", "I need to forget the time of the meeting"] {
        assert_eq!(left(request, &[meeting]), meeting, "{request}");
    }
    assert_eq!(left("remove what I told you about Gwendal", &[other]), "");
    let kept = "Everything about Ottoline can go apart from her diet (she does not eat pork)";
    assert_eq!(left(kept, &["Ottoline does not eat pork."]), "Ottoline does not eat pork.");
    assert_eq!(left(kept, &["Ottoline moved to Kiel."]), "");
}

#[test]
fn other_names_are_told_in_many_ways_and_only_of_the_thing_itself() {
    let of_it =
        |tells: &str| judged("forget Bartholomew Grice", &["Tolly owes me 20 for the concert.", tells])[0].verdict;
    for tells in [
        "Bartholomew Grice goes by Tolly among friends.",
        "Tolly is Bartholomew Grice's nickname.",
        "Bartholomew Grice's nickname is Tolly.",
        "Bartholomew Grice said: call me Tolly.",
        "My name is Bartholomew Grice, but call me Tolly.",
        "Bartholomew Grice prefers to be called Tolly.",
        "Everyone calls Bartholomew Grice \"Tolly\".",
        "Tolly's real name is Bartholomew Grice.",
        "Bartholomew Grice, nickname Tolly, plays chess.",
        "Bartholomew Grice answers to Tolly.",
        "Bartholomew Grice, or Tolly for short, plays chess.",
    ] {
        assert_eq!(of_it(tells), Verdict::Matched, "{tells}");
    }
    for tells in [
        "Bartholomew Grice's cat is called Tolly.",
        "Bartholomew Grice calls his boat Tolly.",
        "Bartholomew Grice named his son Tolly.",
        "Bartholomew Grice and Tolly play chess.",
        "Bartholomew Grice told Tolly to call back.",
        "Bartholomew Grice works for Tolly.",
        "Bartholomew Grice (Tolly's brother) plays chess.",
    ] {
        assert_eq!(of_it(tells), Verdict::No, "{tells}");
    }
}

#[test]
fn all_about_somebody_who_is_described_means_who_one_text_says_it_is() {
    let of = |request: &str, texts: &[&str]| judged(request, texts)[0].verdict;
    let landlord = ["Ashgrove wants the rent by the first.", "Viktor's landlord is Mr. Ashgrove."];
    assert_eq!(of("delete everything about Viktor's landlord", &landlord), Verdict::Matched);
    // The person, or who it is: it is not said which.
    assert!(matches!(of("forget Viktor's landlord", &landlord), Verdict::Maybe(_)));
    let two = [landlord[0], landlord[1], "Viktor's landlord is Mrs. Penhallow."];
    assert!(matches!(of("delete everything about Viktor's landlord", &two), Verdict::Maybe(_)));
    let others = [landlord[0], "Lucia's landlord is Mr. Ashgrove."];
    assert_eq!(of("delete everything about Viktor's landlord", &others), Verdict::No);

    let vet = ["Dr. Quenby said to switch food.", "Our vet is Dr. Quenby."];
    assert_eq!(of("forget our vet, all of it", &vet), Verdict::Matched);
    let service = ["paymill-edge leaks memory.", "The service behind the checkout page is called paymill-edge."];
    assert_eq!(of("forget the service behind the checkout page", &service), Verdict::Matched);
    let other = ["findling leaks memory.", "The service behind the search page is called findling."];
    assert_ne!(of("forget the service behind the checkout page", &other), Verdict::Matched);
}

#[test]
fn what_a_request_in_another_language_asks_for_beside_a_name_is_only_maybe_meant() {
    let other = "Gwendal joue de la vielle.";
    for request in ["Oublie l'adresse de Gwendal", "olvida el correo de Gwendal", "забудь адрес Gwendal"] {
        assert_eq!(left(request, &[other]), other, "{request}");
    }
    for request in ["oublie Gwendal", "Vergiss alles über Gwendal", "olvida todo sobre Gwendal"] {
        assert_eq!(left(request, &[other]), "", "{request}");
    }
}

#[test]
fn a_number_of_a_kind_is_no_number_to_call() {
    let phone = "Gwendal's phone number is +49 170 1234567.";
    for request in ["forget Gwendal's account number", "forget the customer number of Gwendal"] {
        assert_eq!(left(request, &[phone]), phone, "{request}");
    }
    assert_eq!(left("forget the customer number of Gwendal", &["Gwendal has the customer number 20417."]), "");
}

#[test]
fn what_is_only_to_be_kept_stays() {
    let (delivers, warranty) = ("Halver Pumps delivers on Mondays.", "Warranty of Halver Pumps: 36 months.");
    let request = "Remove all notes about the vendor Halver Pumps, only keep the warranty information.";
    assert_eq!(left(request, &[delivers]), "");
    assert_eq!(left(request, &[warranty]), warranty);
}

#[test]
fn an_account_of_hexadecimal_letters_and_a_card_with_dots_are_found_however_they_are_grouped() {
    assert_eq!(left("forget DE44500105175407324931", &["Rent goes to DE44 5001 0517 5407 3249 31"]), "");
    let other = "Rent goes to DE44 5001 0517 5407 3294 31";
    assert_eq!(left("forget DE44500105175407324931", &[other]), other);
    assert_eq!(left("forget MAC 3c:5a:b4:0e:77:91", &["switch log: 3c5a.b40e.7791 flapping"]), "");
}
